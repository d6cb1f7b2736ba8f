"""How processes start: by which calls and start methods, and what of a program reaches them."""
