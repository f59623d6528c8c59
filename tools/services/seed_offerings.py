"""The demo prompt and the demo resource of a first start."""

from __future__ import annotations

from typing import Final

from tools.models import Prompt, Resource

PROMPT: Final = {
    "name": "summarise_calls",
    "title": "Summarise the latest calls",
    "description": "Has the model read the service's own figures and explain how it is doing.",
    "arguments": [
        {
            "name": "focus",
            "title": "Focus",
            "description": "What to look at most closely.",
            "required": True,
            "choices": ["everything", "errors", "response times", "the cache", "tokens saved"],
        }
    ],
    "messages": [
        {
            "role": "user",
            "content": {
                "type": "text",
                "text": (
                    "Call the tool server_metrics and tell me how the service is doing. "
                    "Look most closely at: {focus}.\n\n"
                    "Write three short paragraphs: what happened, what stands out, what I should "
                    "do next. Give the figures you lean on, and say so where there are too few "
                    "calls to judge."
                ),
            },
        }
    ],
}
GUIDE: Final = """\
# Using the tools of this control plane

- **Find a tool.** List the tools, or call `tool_search` with what you want to do. A tool you were
  not granted is not there for you.
- **Call it.** Arguments are checked against the tool's schema before anything runs. When they are
  refused, the error names the `parameter`, what was `expected` and a `suggestion`: mend that one
  argument and call again.
- **Wait when told to.** An error with `retry_after` passes by itself; come back after so many
  seconds. Other errors come back the same, so change the call first.
- **Read the rest of a long answer.** A shortened answer carries its `request_id`. Read the whole of
  it at `result://<request_id>`, or page by page with `read_result` and a JSON pointer such as
  `/records/3`.
- **Judge the service.** `server_metrics` gives counts, response times and errors of recent calls.
- **Ask for help.** Give the operator the `request_id` of the call: it leads to its row in the
  request log.
"""
RESOURCE: Final = {
    "uri": "controlplane://guide",
    "name": "guide",
    "title": "Using the tools of this control plane",
    "description": "How to find tools, mend refused calls and read long answers. Read it first.",
    "mime_type": "text/markdown",
    "text": GUIDE,
    "audience": ["assistant"],
    "priority": 0.8,
}


def seed_offerings() -> list[str]:
    """Create the two where there are none of their kind; what was created."""
    created = []
    # Once an operator has some, deleted demo rows must not come back.
    if not Prompt.objects.exists():
        Prompt(**PROMPT).save()
        created.append(f"prompt {PROMPT['name']}")
    if not Resource.objects.exists():
        Resource(**RESOURCE).save()
        created.append(f"resource {RESOURCE['uri']}")
    return created
