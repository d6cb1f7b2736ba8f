"""FKL401: numbers of workers for Macs, in code and in presets, and what a number of 0 entails."""
