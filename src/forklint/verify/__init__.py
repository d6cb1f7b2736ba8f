"""Proves findings by running them: from findings to experiments, trials, observations and verdicts."""
