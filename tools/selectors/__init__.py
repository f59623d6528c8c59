"""Reads: database rows in, frozen values out."""

from tools.selectors.catalogue import Catalogue, catalogue_version, load_catalogue
from tools.selectors.service import service_settings

__all__ = ["Catalogue", "catalogue_version", "load_catalogue", "service_settings"]
