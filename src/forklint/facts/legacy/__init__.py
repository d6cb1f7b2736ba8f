"""Uses of torch that are deprecated."""
