"""Uses of torch that it still takes and is about to give up."""
