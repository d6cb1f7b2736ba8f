"""One file's facts, exact, from one walk over its tree: plain data that can be stored."""
