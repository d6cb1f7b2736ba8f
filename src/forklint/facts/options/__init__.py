"""What the arguments of loaders are, as far as the text tells, and which of them a loader refuses."""
