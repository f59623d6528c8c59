"""What prompts and resources are made of: texts with placeholders, addresses, content blocks.

Pure functions: what is acceptable when a row is saved, and what a caller gets when it is read.
"""

from tools.offerings.checks import (
    MIME_PATTERN,
    audience_fault,
    base64_fault,
    choices_fault,
    priority_fault,
)
from tools.offerings.content import (
    NotAnAddress,
    argument_faults,
    block_faults,
    message_faults,
    render_messages,
)
from tools.offerings.placeholders import PlaceholderFault, TooLong, expand, names_in
from tools.offerings.uris import (
    RESULT_SCHEME,
    is_absolute,
    is_reserved,
    literal_length,
    match_template,
    template_faults,
    template_variables,
    uri_faults,
)

__all__ = [
    "MIME_PATTERN",
    "RESULT_SCHEME",
    "NotAnAddress",
    "PlaceholderFault",
    "TooLong",
    "argument_faults",
    "audience_fault",
    "base64_fault",
    "block_faults",
    "choices_fault",
    "expand",
    "is_absolute",
    "is_reserved",
    "literal_length",
    "match_template",
    "message_faults",
    "names_in",
    "priority_fault",
    "render_messages",
    "template_faults",
    "template_variables",
    "uri_faults",
]
