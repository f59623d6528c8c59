"""The Todo server by itself, without a control plane."""
