"""A backend that fails on command, for tests and fault campaigns."""
