"""Mutation testing: small faults are put into functions of the product, and tests that reach them must fail."""
