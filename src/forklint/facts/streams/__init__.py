"""Streams: iterable datasets that give every worker all of their samples."""
