"""The admin, one module per area. Importing this package registers all of it."""

from tools.admin import access, catalog, journal, offerings, service, users

__all__ = ["access", "catalog", "journal", "offerings", "service", "users"]
