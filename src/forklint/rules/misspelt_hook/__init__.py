"""FKL502: misspelt methods and keywords, which torch never uses."""
