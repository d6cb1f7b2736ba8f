"""What dtype and values an attention mask has where it is handed over."""
