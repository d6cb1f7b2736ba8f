"""Every place in the project where a loader is created, with its options, its dataset and its number of workers.

``loaders.loaders(project)`` gives all of them, ``loaders_of(project, module)`` those of one module, and
``loaders_for(project, facts)`` those that may get an object of a class; each ``Loader`` has

- ``call``: the Expression that creates it (``module``, ``scope``, ``node``), and ``row`` of starters.toml;
- ``option(name)``: where an option is set, an Expression or a Setting of a file; None if it is not set;
- ``value(name)``: the value of an option as a ``Found`` (``value``, ``links``, ``by_default``), None if it is not set;
- ``open``: whether ``**kwargs`` may contain unknown options;
- ``workers``: a ``WorkerCount`` with ``kind`` (NONE, SOME or UNKNOWN), ``by_default`` and ``links``, its source;
- ``datasets``: the project classes of which its dataset may be; ``dataset``: the one, where just one is known.

``values.evaluator.Evaluator(project).find(expression)`` says of any expression what it holds, where that can be known.
"""
