"""Texts that come with the name of their parameter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.extract.main_text import EDGES, is_main, quoted, trimmed
from agent.router.extract.taken import Taken
from agent.router.parameters import Parameter, Type
from agent.router.profile import Profile
from agent.router.said_values import Kind, Value
from agent.router.thesaurus import meanings
from agent.router.words import STOP_WORDS, Token, stem, word_set

_NAMES: Final = frozenset(stem(word) for word in word_set("title name label subject heading"))
# The text, its quotes where it has some, and where it is announced.
Named = tuple[Value | None, str, int, int]
_RENAMING: Final = re.compile(
    r"\b(?:rename|retitle|call it|(?:should|must|ought to|has to|to) (?:now )?(?:read|be (?:called|named|titled)))\b",
    re.IGNORECASE,
)


_OF_A_THING: Final = r"(?:[\w-]{1,20} ){0,2}#?\d{1,12}"


def take_named_texts(taken: Taken, profile: Profile, wanted: Sequence[Parameter]) -> None:
    """Texts that come with the name of their parameter: `description: …`, `title 'X'`, `rename … to X`."""
    for one in wanted:
        if one.type is not Type.TEXT or one.name in taken.arguments or is_main(one, profile):
            continue
        found = _after_name(taken, one)
        if found is None and _NAMES & set(one.words) and _RENAMING.search(taken.message.text):
            found = _after_to(taken)
        if found is None:
            found = _set_to(taken, one)
        if found is not None:
            value, text, start, end = found
            if one.allows(text):
                taken.take_text(one.name, text, value)
                taken.cue(one.name, start, end)


def take_known_ids(taken: Taken, wanted: Sequence[Parameter]) -> None:
    """Short texts after the parameter's name, such as `sorted by BWT`."""
    for one in wanted:
        if one.type is not Type.TEXT or one.name in taken.arguments or not one.examples:
            continue
        for token in taken.message.tokens:
            before = [
                word
                for word in taken.message.before(token.start, 2)
                if word.lower not in ("by", "the")
            ]
            sorts = bool(before) and _sorted_by(taken, token, one)
            cued = sorts or (
                before
                and before[0].stem in (set(one.words) | one.about)
                and before[0].stem not in STOP_WORDS
            )
            if cued and _like_example(token, one) and one.allows(token.text):
                taken.take(one.name, token.text)
                taken.cue(one.name, before[0].start, token.end)
                break


def _sorted_by(taken: Taken, token: Token, one: Parameter) -> bool:
    """Whether a word stands behind "by", and before that what the parameter is for: `rank them by X`."""
    by = [word.lower for word in taken.message.before(token.start, 1)] == ["by"]
    before = [word for word in taken.message.tokens if word.end <= token.start][-8:]
    return by and any(set(meanings(word.stem)) & set(one.words) for word in before)


def _like_example(token: Token, one: Parameter) -> bool:
    return (
        any(
            token.text.isupper() == example.isupper() and token.text.isalpha() == example.isalpha()
            for example in one.examples
        )
        and token.lower not in STOP_WORDS
    )


def _after_name(taken: Taken, one: Parameter) -> Named | None:
    text = taken.message.text
    for token in taken.message.tokens:
        if token.stem not in one.words and not (
            token.stem in one.meanings and token.lower.endswith("ed")
        ):
            continue
        after = text[token.end :]
        colon = re.match(
            r"\s*(?:(?:to|of|for|on) (?:\w{1,20} ){0,2}#?\d{1,12}\s*)?(?:to|into|as|is|now)?\s*[:=]\s*"
            r"|\s*(?:to|of|for|on) (?:[\w-]{1,20} ){0,2}#?\d{1,12},? (?:that|(?:should |must )?(?:say|read)(?:ing|s)?(?: that)?)\s+",
            after,
        )
        quote = next((v for v in taken.free(Kind.QUOTED) if 0 <= v.start - token.end <= 40), None)
        if quote is not None and not any(
            v.kind is Kind.QUOTED and token.end <= v.start < quote.start
            for v in taken.message.values
        ):
            return quote, quote.text, token.start, token.end
        if colon:
            rest = after[colon.end() :].strip(EDGES)
            # "… . Priority 3": behind the text another argument is told.
            begin = token.end + colon.end()
            other = re.search(r"[.;]\s\0", taken.remaining(begin))
            if other and other.start():
                rest = text[begin : begin + other.start()].strip(EDGES)
                return None, rest, token.start, begin + other.start()
            if rest:
                return None, rest, token.start, len(text)
    return None


def _set_to(taken: Taken, one: Parameter) -> Named | None:
    """`set the title of todo 5 to X`. The number is a part of where it is announced, so that it is asked about:
    nothing marks what X is, and what it only points at ("the one of todo 6")."""
    name = re.escape(one.name.replace("_", " "))
    match = re.search(
        rf"\b(?:set|change|update|edit) (?P<place>(?:the |my )?(?:{name} (?:of|for|on) {_OF_A_THING}|{_OF_A_THING}['’]s {name})"
        r" (?:to|into) )(?P<text>.{1,300})$",
        taken.message.text,
        re.IGNORECASE | re.DOTALL,
    )
    text = trimmed(match["text"]) if match else ""
    return (None, text, match.start("place"), match.end()) if match and text else None


def _after_to(taken: Taken) -> Named | None:
    quote = quoted(taken)
    if quote is not None:
        return quote, quote.text, quote.start, quote.end
    match = re.search(
        r"\b(?:to|as|into)\s+(?:(?:now )?(?:be (?:called|named|titled)|read)\s+)?(.{1,300})$",
        taken.message.text,
        re.IGNORECASE | re.DOTALL,
    )
    text = trimmed(match[1]) if match else ""
    return (None, text, match.start(), match.end()) if match and text else None
