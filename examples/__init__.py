"""Things that run beside the control plane, for trying it out."""
