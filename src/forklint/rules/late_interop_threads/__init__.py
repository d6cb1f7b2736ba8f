"""FKL102: calls of ``torch.set_num_interop_threads`` that come too late."""
