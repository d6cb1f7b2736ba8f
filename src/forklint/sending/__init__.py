"""What is sent to worker processes: the calls that send it, and in which cells it is pickled."""
