"""Facts of a project, computed once from ``ast``: names, classes, imports, and what follows from them.

``scopes`` says what each name of a module is bound to, ``module`` holds one module, ``resolver`` finds the
file of an import, ``index`` joins them into a project. The other files compute one kind of fact each.
"""
