"""From paths to documents: which files there are, what they say, and which may hold a finding at all."""
