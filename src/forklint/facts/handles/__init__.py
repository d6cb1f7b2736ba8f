"""Open handles: who opens them, who keeps them, who carries them into worker processes."""
