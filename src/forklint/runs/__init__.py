"""What happens when code runs: traces of modules and functions, found once each, and the programs that play them."""
