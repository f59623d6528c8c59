"""Texts that come with the name of their parameter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.extract.main_text import EDGES, is_main, quoted, trimmed
from agent.router.extract.taken import Taken
from agent.router.message import Kind, Value
from agent.router.parameters import Parameter, Type
from agent.router.profile import Profile
from agent.router.words import STOP_WORDS, Token, stem, word_set

_NAMES: Final = frozenset(stem(word) for word in word_set("title name label subject heading"))
_RENAMING: Final = re.compile(r"\b(?:rename|retitle|call it)\b", re.IGNORECASE)


def take_named_texts(taken: Taken, profile: Profile, wanted: Sequence[Parameter]) -> None:
    """Texts that come with the name of their parameter: `description: …`, `title 'X'`, `rename … to X`."""
    for one in wanted:
        if one.type is not Type.TEXT or one.name in taken.arguments or is_main(one, profile):
            continue
        found = _after_name(taken, one)
        if found is None and _NAMES & set(one.words) and _RENAMING.search(taken.message.text):
            found = _after_to(taken)
        if found is not None:
            value, text, start = found
            if one.allows(text):
                taken.take(one.name, text, *([value] if value else []))
                taken.cue(start, value.end if value else len(taken.message.text))


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
            cued = (
                before
                and before[0].stem in (set(one.words) | one.about)
                and before[0].stem not in STOP_WORDS
            )
            if cued and _like_example(token, one) and one.allows(token.text):
                taken.take(one.name, token.text)
                taken.cue(before[0].start, token.end)
                break


def _like_example(token: Token, one: Parameter) -> bool:
    return (
        any(
            token.text.isupper() == example.isupper() and token.text.isalpha() == example.isalpha()
            for example in one.examples
        )
        and token.lower not in STOP_WORDS
    )


def _after_name(taken: Taken, one: Parameter) -> tuple[Value | None, str, int] | None:
    text = taken.message.text
    for token in taken.message.tokens:
        if token.stem not in one.words and not (
            token.stem in one.meanings and token.lower.endswith("ed")
        ):
            continue
        after = text[token.end :]
        colon = re.match(r"\s*[:=]\s*", after)
        quote = next((v for v in taken.free(Kind.QUOTED) if 0 <= v.start - token.end <= 40), None)
        if quote is not None and not any(
            v.kind is Kind.QUOTED and token.end <= v.start < quote.start
            for v in taken.message.values
        ):
            return quote, quote.text, token.start
        if colon:
            rest = after[colon.end() :].strip(EDGES)
            if rest:
                return None, rest, token.start
    return None


def _after_to(taken: Taken) -> tuple[Value | None, str, int] | None:
    quote = quoted(taken)
    if quote is not None:
        return quote, quote.text, quote.start
    match = re.search(
        r"\b(?:to|as|into)\s+(.{1,300})$", taken.message.text, re.IGNORECASE | re.DOTALL
    )
    return (None, trimmed(match[1]), match.start()) if match and trimmed(match[1]) else None
