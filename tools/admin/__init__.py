"""The admin, one module per area. Importing this package registers all of it."""

from tools.admin import (
    access,
    catalog,
    corpora,
    documents,
    evaluations,
    http_apis,
    journal,
    offerings,
    operations,
    pipelines,
    service,
    upstream_items,
    upstreams,
    users,
    versions,
)

__all__ = [
    "access",
    "catalog",
    "corpora",
    "documents",
    "evaluations",
    "http_apis",
    "journal",
    "offerings",
    "operations",
    "pipelines",
    "service",
    "upstream_items",
    "upstreams",
    "users",
    "versions",
]
