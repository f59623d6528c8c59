"""Making a call of the request log again, and the two answers side by side."""
