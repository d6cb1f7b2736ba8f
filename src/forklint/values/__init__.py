"""The possible values of an expression, and where they are set: one evaluator for all rules.

``evaluator.Evaluator(project).find(source)`` follows an expression or a setting of a file back to where its value is
set, anywhere in the project. ``model`` has the types of its results; each kind of source of a value has its own module.
"""
