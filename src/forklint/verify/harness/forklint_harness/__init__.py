"""What runs inside the project's own interpreter: the standard library and torch alone, Python 3.8 upwards."""
