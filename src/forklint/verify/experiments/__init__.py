"""The experiments, one module for each rule. A new file is found automatically."""
