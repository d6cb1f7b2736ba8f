"""FKL205: variables with which forked children hang."""
