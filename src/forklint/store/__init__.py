"""What is stored from run to run."""
