"""The rules, one file each. A new file with a subclass of ``base.Rule`` is found by itself."""
