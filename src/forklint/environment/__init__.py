"""Environment variables: where they are set, and what was loaded before that."""
