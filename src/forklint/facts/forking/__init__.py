"""Facts about forks that come too late: what ran before one, what its child does, and by which method it is started."""
