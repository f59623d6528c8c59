"""Names that can be taken for other names: the same to the eye, or one letter away."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from tools.upstreams.characters import without_hidden

SHORTEST_NEAR: Final = 8
# What looks like an ASCII letter or digit, in the scripts most often used for it.
_LOOKS: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0432\u043a\u043c\u043d\u0442\u0433"
    "\u03b1\u03bf\u03c1\u03bd\u03c4\u03b9\u03ba\u03c5\u03c7\u0131\u0251\u0261\u01c0\u04cf\u0578\u057d\u0585\u1d0f"
    "01|!$@",
    "aeopcyxijshdqwbkmhtraopvtikuxiagllnsooollisa",
)
_DROPPED: Final = re.compile(r"[\s_.\-]+")
_DIGITS: Final = re.compile(r"\d+")


def skeleton(name: str) -> str:
    """What is left of a name for the eye: two names that look alike have the same."""
    seen = unicodedata.normalize("NFKC", without_hidden(name)).casefold().translate(_LOOKS)
    marks = unicodedata.normalize("NFKD", seen)
    plain = "".join(one for one in marks if unicodedata.category(one) != "Mn")
    # l and I, rn and m cannot be told apart in many typefaces.
    return _DROPPED.sub("", plain).replace("i", "l").replace("rn", "m")


def scripts(name: str) -> set[str]:
    """The scripts that the letters of a name belong to, such as LATIN and CYRILLIC."""
    letters = (one for one in name if one.isalpha())
    return {unicodedata.name(letter, "UNKNOWN").split()[0] for letter in letters}


class KnownNames:
    """Names that others have, made ready for being compared with. Values say whose each is."""

    def __init__(self, owners: Mapping[str, str]) -> None:
        self._owners = dict(owners)
        self._skeletons: dict[str, str] = {}
        self._shortened: dict[str, str] = {}
        for name in sorted(self._owners):
            self._skeletons.setdefault(skeleton(name), name)
            if len(name) >= SHORTEST_NEAR:
                for short in _shortened(name):
                    self._shortened.setdefault(short, name)

    def owner(self, name: str) -> str:
        """Whose `name` is."""
        return self._owners[name]

    def same_to_the_eye(self, name: str) -> str:
        """Another name that looks like this one; empty when none does."""
        found = self._skeletons.get(skeleton(name), "")
        return found if found != name else ""

    def one_letter_away(self, name: str) -> str:
        """Another name that differs in one letter, or in two that changed places; else empty."""
        if len(name) < SHORTEST_NEAR or name in self._owners:
            return ""
        for short in _shortened(name):
            found = self._shortened.get(short, "")
            if found and _near(name, found):
                return found
        return ""


def _shortened(name: str) -> Iterator[str]:
    """The name, and the name without each of its letters."""
    yield name
    for place in range(len(name)):
        yield name[:place] + name[place + 1 :]


def _near(one: str, other: str) -> bool:
    """Whether a slip of the pen separates them; plurals and numbers are meant to be different."""
    if one == other or _DIGITS.sub("", one) == _DIGITS.sub("", other):
        return False
    if one + "s" == other or other + "s" == one:
        return False
    return _distance_is_one(one, other)


def _distance_is_one(one: str, other: str) -> bool:
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    left, right = one[start:], other[start:]
    swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:]
    return left[1:] == right[1:] or left[1:] == right or left == right[1:] or swapped
