"""What people are told when something does not work."""

from __future__ import annotations

from typing import Final

TOOLS_UNAVAILABLE: Final = "Unable to reach the tools right now. Please try again later."
TOOL_TIMED_OUT: Final = "The tool took too long and was given up. Please try again later."
# What a tool says when its server does not do its part: the turn is degraded.
NOT_THERE: Final = frozenset({TOOLS_UNAVAILABLE, TOOL_TIMED_OUT})
TOOL_FAILED: Final = "The tool failed in a way that was not expected."
MODEL_UNAVAILABLE: Final = "Unable to reach the language model right now. Please try again later."
MODEL_REFUSED: Final = (
    "The language model refused this request. It may be too long: please ask for less, or begin a new "
    "conversation. If it refuses everything, whoever runs this chat should look at MODEL and MODEL_BASE_URL."
)
MODEL_MISCONFIGURED: Final = (
    "The language model does not let this chat in, or is not there under its name. Whoever runs this chat "
    "should look at MODEL, MODEL_BASE_URL and MODEL_API_KEY."
)
MODEL_SAID_NOTHING: Final = (
    "The language model gave no answer. Please put the question differently."
)
TOO_MANY_STEPS: Final = "I used many tools and came to no end. Please ask for something smaller."
UNEXPECTED: Final = "Something went wrong here. Please try again later."
NO_MODEL: Final = "No language model is configured: tools are picked by rules."
ONE_CALL: Final = "I make one call for each message."
DROPPED: Final = "All right, nothing was called."
NO_TOOLS: Final = "The server of the tools offers none. Please try again later."
NOTHING_CONFIGURED: Final = (
    "There is neither a language model nor a tool to answer with. Whoever runs this chat can name them: "
    "MODEL and MCP_URL."
)
