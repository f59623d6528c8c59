"""Answers from passages: written by a language model, or taken from the passages word for word."""
