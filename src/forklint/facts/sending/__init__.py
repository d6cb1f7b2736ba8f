"""What worker processes are sent by pickle: who sends it, what it holds, and what pickle refuses in it."""
