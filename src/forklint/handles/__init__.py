"""Open handles: what opens them, which objects store them, and how they reach worker processes."""
