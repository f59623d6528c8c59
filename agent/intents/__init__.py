"""Requests with the tool and arguments that are right for them, and what measures a chooser by them."""
