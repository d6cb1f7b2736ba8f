"""Verifies findings by running code: from findings to experiments, trials, observations and verdicts."""
