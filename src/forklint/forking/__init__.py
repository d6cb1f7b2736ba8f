"""Forks that come too late: what ran before, what the child does, and which start method is used."""
