"""Machines: which code is meant for a Mac, and how many workers it asks for there."""
