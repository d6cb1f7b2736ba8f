"""FKL304: which expressions surely use an accelerator, and which of them workers reach."""
