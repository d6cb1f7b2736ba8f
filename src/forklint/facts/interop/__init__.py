"""Numbers of inter-op threads that are set when they can no longer be."""
