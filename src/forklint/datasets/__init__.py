"""Datasets: which classes are datasets, what of them workers run, which objects they carry, what streams give."""
