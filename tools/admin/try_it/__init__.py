"""Calling a tool from the admin: a form from its JSON Schema, the answer, and how it came about."""
