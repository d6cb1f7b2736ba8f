"""The rules: one module each, or ``rule.py`` in a folder. A new subclass of ``base.Rule`` there is found automatically."""
