"""Characters that people do not see but models read: found, and made visible."""

from __future__ import annotations

import unicodedata
from typing import Final

_PLAIN: Final = "\t\n\r"
# Letters and symbols by their category, but drawn as nothing.
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe0e\ufe0f"
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
# Above: scripts in which joiners shape letters.
_FIRST_SHAPED: Final = "\u0590"


def hidden_characters(text: str) -> list[str]:
    """The characters of `text` that a reader does not see, in order, each as often as it is there."""
    if text.isascii() and text.isprintable():
        return []
    return [character for place, character in enumerate(text) if _is_hidden(text, place)]


def character_name(character: str) -> str:
    """Such as U+200B zero width space."""
    name = unicodedata.name(character, "").lower()
    number = f"U+{ord(character):04X}"
    if 0xE0000 <= ord(character) <= 0xE007F:
        name = name or "tag"
    return f"{number} {name}".strip()


def visible(text: str) -> str:
    """`text` with its hidden characters written out, such as \u2423U+200B."""
    if not hidden_characters(text):
        return text
    return "".join(
        f"\u2423U+{ord(character):04X}" if _is_hidden(text, place) else character
        for place, character in enumerate(text)
    )


def without_hidden(text: str) -> str:
    """`text` as a reader sees it."""
    if not hidden_characters(text):
        return text
    return "".join(character for place, character in enumerate(text) if not _is_hidden(text, place))


def _is_hidden(text: str, place: int) -> bool:
    character = text[place]
    if character in _PLAIN or (character.isascii() and character.isprintable()):
        return False
    if character in _BLANK:
        return True
    before = text[place - 1] if place else ""
    if _selects(character):
        return not (character in _SELECTORS and before and _takes_selector(before))
    if unicodedata.category(character) not in _HIDDEN_CATEGORIES:
        return False
    after = text[place + 1] if place + 1 < len(text) else ""
    return not (character in _JOINERS and _joined(before, after))


def _selects(character: str) -> bool:
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def _takes_selector(character: str) -> bool:
    """Digits, signs and pictures come in two forms, which the next character chooses."""
    return character in "#*0123456789" or unicodedata.category(character) in {"So", "Sm", "Po"}


def _joined(before: str, after: str) -> bool:
    """Whether a joiner between them shapes letters, or makes one picture of two."""
    return bool(before and after) and _shaped(before) and _shaped(after)


def _shaped(character: str) -> bool:
    category = unicodedata.category(character)
    letter = category[0] in "LM" and character > _FIRST_SHAPED and not _selects(character)
    return letter or category in {"So", "Sk"} or character in _SELECTORS
