"""What the harness does in a trial, one file a task."""
