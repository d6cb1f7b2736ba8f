"""What the tasks of thread pools share."""
