"""What switches the threads of Hugging Face's tokenizers."""

VARIABLE = "TOKENIZERS_PARALLELISM"
"""The variable that says whether they may be used."""
