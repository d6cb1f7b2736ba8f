"""The tasks of trials, one module each, with ``install(order)``."""
