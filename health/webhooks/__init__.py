"""Changes of status told to others over HTTP, so that none is lost."""
