"""FKL204: what is sent to workers, or kept for them, that pickle refuses."""
