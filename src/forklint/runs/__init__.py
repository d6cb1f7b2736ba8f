"""The order in which code runs: traces of modules and functions, computed once, and programs that play them."""
