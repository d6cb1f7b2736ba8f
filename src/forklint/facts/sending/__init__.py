"""Objects that are pickled for worker processes: what sends them, what they contain, and what cannot be pickled."""
