"""Reading the request log, which may have millions of rows: by index, in small pieces, never all of it."""

from tools.selectors.request_log.cursors import Cursor, parse_moment
from tools.selectors.request_log.pages import ROWS, Page, Step, count, page, step
from tools.selectors.request_log.sought import Sought
from tools.selectors.request_log.streams import stream
from tools.selectors.request_log.terms import resolved
from tools.selectors.request_log.ways import Way, way_to

__all__ = [
    "ROWS",
    "Cursor",
    "Page",
    "Sought",
    "Step",
    "Way",
    "count",
    "page",
    "parse_moment",
    "resolved",
    "step",
    "stream",
    "way_to",
]
