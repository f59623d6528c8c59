"""What an API says about a failure, short and without secrets."""

from __future__ import annotations

import json
from typing import Any, Final

from tools.backends.http_api.outgoing import Answer
from tools.context.redact import REDACTED, redact, redact_text
from tools.pipelines.reading.encodings import decode
from tools.pipelines.reading.html import visible_text

LONGEST: Final = 500
# Where APIs put a text for people: RFC 9457, JSON:API, and what most others do.
_TEXTS: Final = ("detail", "message", "error_description", "error", "title", "errors", "msg")


def said(answer: Answer, secrets: tuple[str, ...]) -> str:
    """The words of a failed answer, at most 500 characters of them."""
    text = hidden(decode(answer.body, answer.charset), secrets)
    try:
        value = redact(json.loads(text))
    except (ValueError, RecursionError):
        if "<" in text[:1000]:
            text = visible_text(text[: 20 * LONGEST])
    else:
        text = _words(value)
    text = " ".join(redact_text(text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def hidden(text: str, secrets: tuple[str, ...]) -> str:
    """`text` without the credentials that were sent, should the API repeat them."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def _words(value: Any) -> str:
    """The text in a failure, and the rest of it where the text is short."""
    if isinstance(value, dict):
        texts = [value[key] for key in _TEXTS if isinstance(value.get(key), str)]
        others = {key: one for key, one in value.items() if key not in _TEXTS}
        nested = [value[key] for key in _TEXTS if isinstance(value.get(key), dict | list)]
        parts = [*dict.fromkeys(texts), *(_words(one) for one in nested if one)]
        if parts and not others:
            return "; ".join(parts)
        if parts:
            return f"{'; '.join(parts)} {json.dumps(others, ensure_ascii=False)}"
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
