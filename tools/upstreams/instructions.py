"""Text in definitions that is written for a model to obey, not for choosing a tool by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from tools.upstreams.characters import without_hidden

# Longer texts are read up to here, and reported for their length.
MOST_READ: Final = 20_000

_SECRETS: Final = (
    r"(?:\.ssh|id_rsa|id_ed25519|\.env\b|/etc/passwd|/etc/shadow|\.aws|\.netrc|\.npmrc|\.kube|"
    r"credentials?\b|private keys?|api[ _-]?keys?|access tokens?|passwords?|mcp\.json|secrets?\b)"
)
# Every gap has a limit, so that no text takes long to read.
_PATTERNS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), meaning)
    for pattern, meaning in (
        (
            r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
            r"\b(?:instruction|prompt|rule|guideline|polic|message|safety|restriction)",
            "tells the model to put other instructions aside",
        ),
        (
            r"<\s{0,9}/?\s{0,9}(?:important|system|secret|instructions?|admin|assistant|hidden|critical)"
            r"\s{0,9}/?>"
            r"|<\|[a-z_]+\|>|\[/?(?:INST|SYSTEM)\]|(?:^|\n)[ #]{0,9}system\s{0,9}:",
            "has a mark that models take for orders from their operator",
        ),
        (
            r"\b(?:do not|don't|never|must not|should not|without|avoid)\b.{0,20}"
            r"\b(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying"
            r"|alert|alerting|show|showing|ask|asking)\b.{0,30}\b(?:the |any )?(?:user|human|person|anyone)",
            "asks to keep something from the user",
        ),
        (
            r"\b(?:secretly|covertly|behind the scenes)\b"
            # Calls that succeed or fail silently are another matter.
            r"|\bsilently (?:add|append|call|collect|copy|do|execute|forward|include|invoke|log|pass"
            r"|post|read|record|run|send|store|upload|use|write)\b"
            r"|\b(?:call|copy|do|execute|forward|include|invoke|pass|read|run|send|upload|use)\b"
            r".{0,30}\bsilently\b",
            "asks for something to be done unseen",
        ),
        (
            r"\b(?:before|prior to|after|whenever|instead of|every time)\b.{0,30}"
            r"\b(?:using|calling|invoking|running|you (?:use|call|invoke|run))\b.{0,30}\btools?\b",
            "says how other tools are to be used",
        ),
        (
            r"\b(?:always|must|first)\b.{0,30}\b(?:call|use|invoke|run)\b.{0,20}\bthis tool\b.{0,20}"
            r"\b(?:first|before)\b|\bother tools? (?:is|are) (?:broken|deprecated|unsafe|obsolete)",
            "wants to be used before other tools",
        ),
        (
            rf"\b(?:read|open|load|fetch|cat|print|include|attach|get|retrieve|copy)\b.{{0,60}}{_SECRETS}"
            rf"|{_SECRETS}.{{0,60}}\b(?:as|in|into|to)\b.{{0,20}}\b(?:parameter|argument|field|note)",
            "asks for secrets or files of the user",
        ),
        (
            r"\b(?:pass|send|put|include|provide|append|add|forward|copy)\b.{0,60}"
            r"\b(?:conversation|chat history|system prompt|previous messages|full context"
            r"|contents? of (?:the|your|any|all) (?:file|message|conversation|memor))",
            "asks for the conversation or for files to be passed on",
        ),
        (
            r"\b(?:send|forward|upload|post|exfiltrate|transmit|bcc|email)\b.{0,60}"
            r"(?:https?://|\b[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]{2,})",
            "asks for something to be sent elsewhere",
        ),
        (
            r"\byou are now\b|\bnew instructions?\s*:|\bact as (?:an?|the) (?:admin|root|system|developer)"
            r"|\bdeveloper mode\b|\bjailbreak",
            "tries to give the model another role",
        ),
        (r"<!--", "has a comment that is not shown to people"),
        (
            r"!\[[^\]]{0,300}\]\(\s{0,9}(?:https?:)?//",
            "has a picture that is fetched from elsewhere when shown",
        ),
        (r"\]\(\s{0,9}https?://[^)\s?&]{1,300}[?&][^)\s=]{1,300}=", "has a link that carries data"),
        (
            r"(?:data|javascript|vbscript):[a-z]{1,40}/?[a-z-]{0,60}[;,(]",
            "has a link that runs or holds data",
        ),
        (r"[A-Za-z0-9+/]{100,}={0,2}|(?:[0-9a-f]{2}){60,}", "has a long run of encoded data"),
        (
            r"(?<!\s)(?<!&nbsp;)(?:\s|&nbsp;){60,}+\S",
            "has text far away from the rest, behind blank space",
        ),
    )
)


def instruction_like(text: str) -> Iterator[tuple[str, str]]:
    """What the text does that a description should not, and the words it does it with."""
    read = unicodedata.normalize("NFKC", without_hidden(text[:MOST_READ]))
    for pattern, meaning in _PATTERNS:
        if found := pattern.search(read):
            words = " ".join(found[0].split())
            yield meaning, words if len(words) <= 120 else f"{words[:119]}…"
