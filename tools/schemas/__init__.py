"""JSON Schema: which schemas are accepted, compiled validators, defaults, and faults in plain words.

Draft 7 unless the schema names 2020-12. References to anything outside the schema are refused:
validating a definition never opens a file or a connection.
"""

from tools.schemas.accepted import (
    SchemaFault,
    Validator,
    compile_schema,
    first_line,
    object_schema_faults,
)
from tools.schemas.defaults import fill_defaults, normalise
from tools.schemas.wording import ArgumentFault, describe, shown

__all__ = [
    "ArgumentFault",
    "SchemaFault",
    "Validator",
    "compile_schema",
    "describe",
    "fill_defaults",
    "first_line",
    "normalise",
    "object_schema_faults",
    "shown",
]
