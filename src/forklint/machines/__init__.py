"""For which machines code is meant: Macs, other platforms, tests."""
