"""kill -9 campaigns against a whole control plane."""
