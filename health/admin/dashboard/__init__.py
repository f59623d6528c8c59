"""The admin's front page: how the service is, what it did, and the way to everything behind a number."""
