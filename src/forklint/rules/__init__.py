"""The rules: one module each, or ``rule.py`` in a folder. Subclasses of ``base.Rule`` are found automatically."""
