"""Real clients, each in an environment of its own, against a control plane of real processes."""
