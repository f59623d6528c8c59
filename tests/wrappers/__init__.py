"""Generated wrappers, run as their users run them."""
