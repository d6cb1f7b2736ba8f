"""forklint: finds, fixes and proves hazards of PyTorch worker processes."""

__version__ = "0.1.0"
