"""From paths to documents: finding, reading and decoding files, and suppression comments."""
