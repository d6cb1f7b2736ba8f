"""Machines: which code is for macOS only, and how many workers it uses there."""
