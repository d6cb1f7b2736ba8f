"""What an expression may be, and where that is written down: one evaluator, for every rule.

``evaluator.Evaluator(project).find(source)`` answers for an expression or a setting of a file, backwards to where its
value is written, wherever in the project that is. ``model`` has what it answers; each kind of place that a value comes
from has a file of its own.
"""
