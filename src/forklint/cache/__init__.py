"""Findings kept from one run to the next: a file is linted again only if the answer may be another."""
