"""An abstract run of a script's top level, to see where worker processes start.

``execution`` runs statements, ``evaluation`` expressions (``names``, ``conditions`` and ``calling`` are parts of it),
``library`` and ``containers`` say what calls outside the project do, ``iterating`` what loops draw, ``values`` what a
name may hold.
"""
