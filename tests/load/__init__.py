"""Load and leak campaigns against one real web process; the long ones are marked `soak`."""
