"""From a crash to the hazards that make it: logs are read, rows of the table matched, findings ranked."""
