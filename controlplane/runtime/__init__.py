"""The processes of a running control plane and the files they keep."""
