"""Members: which names an object or module has, and which are surely missing."""
