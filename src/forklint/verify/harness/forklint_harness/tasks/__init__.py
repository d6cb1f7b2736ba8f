"""What a trial does: one module a task, with ``install(order)``."""
