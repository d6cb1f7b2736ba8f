"""The rules, one module each. A new file with a subclass of ``base.Rule`` is found automatically."""
