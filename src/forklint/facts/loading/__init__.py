"""Every place of the project where a loader is made, with its options, its dataset and its number of workers.

``loaders.loaders(project)`` gives all of them, ``loaders_of(project, module)`` those of one module, and
``loaders_for(project, facts)`` those that may get an object of a class; each ``Loader`` has

- ``call``: the Expression that makes it (``module``, ``scope``, ``node``), and ``row`` of starters.toml;
- ``option(name)``: where an option is written down, an Expression or a Setting of a file; None if it is not given;
- ``value(name)``: what the option holds as a ``Found`` (``value``, ``links``, ``by_default``), None if it is not given;
- ``open``: whether ``**kwargs`` may give more options of which nothing is known;
- ``workers``: a ``WorkerCount`` with ``kind`` (NONE, SOME or UNKNOWN), ``by_default`` and ``links``, its source;
- ``datasets``: the project classes of which its dataset may be; ``dataset``: the one, where just one is known.

``values.evaluator.Evaluator(project).find(expression)`` says of any expression what it holds, where that can be known.
"""
