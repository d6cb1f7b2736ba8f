"""FKL202: start methods that are set too late, twice, or for others."""
