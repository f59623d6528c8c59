"""The parts that pipelines share. Each has a default without a server and without a download."""
