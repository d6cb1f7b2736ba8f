"""Members of classes and modules: who adds them from outside, and which code is ready for a missing one."""
