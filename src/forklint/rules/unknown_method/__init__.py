"""FKL501: names that an object, or torch, surely does not have."""
