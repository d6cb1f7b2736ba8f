"""Facts of a project, computed once from ``ast``: names, classes, imports, and how the text is written.

``scopes`` says what each name of a module is bound to, ``module`` holds one module, ``resolver`` finds the
file of an import, ``index`` joins them into a project. From summaries, ``graph`` says who imports whom, ``hierarchy``
which classes may inherit from a name and what else a thing may be called, ``meanings`` what a name may mean, ``terms``
which files have a name. ``questions`` remembers answers with what they rest on. ``certainty`` tells a name
that can mean only one thing, ``bindings`` what a name was last given, ``guard`` the main guard. ``spelling`` and
``entries`` read expressions as they are written, whatever they mean.
"""
