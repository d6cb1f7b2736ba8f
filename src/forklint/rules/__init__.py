"""The rules: one module each, or ``rule.py`` in a folder of its own. A subclass of ``base.Rule`` in one is found by itself."""
