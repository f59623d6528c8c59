"""Texts: what stands in quotes, after a name, or where the message says what it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.extract.taken import Taken
from agent.router.message import Kind, Value, greeting_end
from agent.router.parameters import Parameter, Type
from agent.router.profile import Profile
from agent.router.thesaurus import ACTIONS, Action, meanings
from agent.router.words import STOP_WORDS, Token, name_parts, stem, tokens

_NAMES: Final = frozenset(stem(word) for word in "title name label subject heading".split())
_RENAMING: Final = re.compile(r"\b(?:rename|retitle|call it)\b", re.IGNORECASE)
_SOUGHT: Final = re.compile(
    r"\b(?:mention(?:s|ing)?|contain(?:s|ing)?|about|regarding|concerning|matching|(?:look(?:ing)?|search(?:ing)?)? for|for|named|called|with)\b"
    r"(?:\s+the\s+(?:word|term|text|keyword)s?)?\s+",
    re.IGNORECASE,
)
_INSIDE: Final = re.compile(
    r"\s+(?:in|among|within|from|on|inside|of)\s+(?:my|the|our|all)\b.{0,80}$", re.IGNORECASE | re.DOTALL
)
_POLITE: Final = re.compile(
    r"(?:[\s,.!;]*\b(?:please|pls|plz|thanks?(?: you)?(?: so much| very much)?|thx|for me|can you|could you|would you)\b)+[\s.!?]*$",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(r"^(?:the|a|an|my|any|some|that|this)\s+", re.IGNORECASE)
_EDGES: Final = " \t\r\n,.;:!?-–—\0\"'“”‘’"
_TRAILING: Final = re.compile(
    r"[\s,;:\0]+(?:with|on|by|and|due|at|for|to|of|in|it|is|it's|the|a|as|tagged|tags?|until)$", re.IGNORECASE
)
_BETWEEN: Final = re.compile(r"\0+")


def take_named_texts(taken: Taken, profile: Profile, wanted: Sequence[Parameter]) -> None:
    """Texts that come with the name of their parameter: `description: …`, `title 'X'`, `rename … to X`."""
    for one in wanted:
        if one.type is not Type.TEXT or one.name in taken.arguments or _is_main(one, profile):
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
            before = [word for word in taken.message.before(token.start, 2) if word.lower not in ("by", "the")]
            cued = before and before[0].stem in (set(one.words) | one.about) and before[0].stem not in STOP_WORDS
            if cued and _like_example(token, one) and one.allows(token.text):
                taken.take(one.name, token.text)
                taken.cue(before[0].start, token.end)
                break


def _like_example(token: Token, one: Parameter) -> bool:
    return any(
        token.text.isupper() == example.isupper() and token.text.isalpha() == example.isalpha()
        for example in one.examples
    ) and token.lower not in STOP_WORDS


def take_lists(taken: Taken, wanted: Sequence[Parameter]) -> None:
    """Lists of words after the name of their parameter: `tagged home and garden`."""
    for one in wanted:
        if one.type is not Type.TEXTS:
            continue
        for token in taken.message.tokens:
            if token.stem not in one.meanings:
                continue
            items, end = _listed(taken, token)
            if items:
                taken.take(one.name, items)
                taken.cue(token.start, end)
                break


_ITEM: Final = re.compile(r"\s*(?:[\"'“‘](?P<quoted>[^\"'”’]{1,60})[\"'”’]|#?(?P<word>[\w-]{1,60}))", re.UNICODE)
_JOIN: Final = re.compile(r"\s*(?:,\s*and\b|,|\band\b|&|\+)", re.IGNORECASE)
_LIST_START: Final = re.compile(r"\s*(?::|=|(?:as|with|to)\b(?!\s+\d))?\s*", re.IGNORECASE)


def _listed(taken: Taken, name: Token) -> tuple[list[str], int]:
    text = taken.message.text
    place = name.end
    between = re.compile(r"\s+(?:\w+\s+)?#?\d+\s+(?:with|as)\b", re.IGNORECASE).match(text, place)
    if between:
        place = between.end()
    start = _LIST_START.match(text, place)
    place = start.end() if start else place
    items: list[str] = []
    while (item := _ITEM.match(text, place)) is not None:
        word = item["quoted"] or item["word"]
        if word.lower() in STOP_WORDS or (items and stem(word.lower()) in ("due", "priority")):
            break
        items.append(word)
        place = item.end()
        join = _JOIN.match(text, place)
        if join is None:
            break
        place = join.end()
    return items, place


def take_main_text(taken: Taken, profile: Profile) -> None:
    """The text that the tool cannot do without."""
    main = next((one for one in profile.parameters if _is_main(one, profile)), None)
    if main is None or main.name in taken.arguments:
        return
    if profile.answers_questions:
        text: str | None = _question(taken, profile)
    elif profile.action is Action.CREATE:
        text = _content(taken, profile)
    else:
        text = _sought(taken, profile)
    if text:
        text = _cut(text, main)
    if text and main.allows(text):
        taken.take(main.name, text)


def _is_main(one: Parameter, profile: Profile) -> bool:
    first = next((p for p in profile.parameters if p.required and p.type is Type.TEXT and not p.is_id), None)
    return one is first


def _cut(text: str, one: Parameter) -> str:
    most = one.schema.get("maxLength")
    if isinstance(most, int) and not isinstance(most, bool) and len(text) > most > 0:
        return text[:most].rsplit(" ", 1)[0] if " " in text[:most] else text[:most]
    return text


def _quoted(taken: Taken) -> Value | None:
    return next(iter(taken.free(Kind.QUOTED)), None)


def _after_name(taken: Taken, one: Parameter) -> tuple[Value | None, str, int] | None:
    text = taken.message.text
    for token in taken.message.tokens:
        if token.stem not in one.words and not (token.stem in one.meanings and token.lower.endswith("ed")):
            continue
        after = text[token.end :]
        colon = re.match(r"\s*[:=]\s*", after)
        quote = next((v for v in taken.free(Kind.QUOTED) if 0 <= v.start - token.end <= 40), None)
        if quote is not None and not any(v.kind is Kind.QUOTED and token.end <= v.start < quote.start for v in taken.message.values):
            return quote, quote.text, token.start
        if colon:
            rest = after[colon.end() :].strip(_EDGES)
            if rest:
                return None, rest, token.start
    return None


def _after_to(taken: Taken) -> tuple[Value | None, str, int] | None:
    quote = _quoted(taken)
    if quote is not None:
        return quote, quote.text, quote.start
    match = re.search(r"\b(?:to|as|into)\s+(.{1,300})$", taken.message.text, re.IGNORECASE | re.DOTALL)
    return (None, _trimmed(match[1]), match.start()) if match and _trimmed(match[1]) else None


def _question(taken: Taken, profile: Profile) -> str:
    """The question itself, without how it is to be answered where the two stand apart."""
    text = taken.message.text[greeting_end(taken.message.text) :].strip()
    head, colon, tail = text.partition(":")
    if colon and len(tails := tail.split()) >= 2 and len(head) < 200 and not re.search(r"\d$", head):
        told = tails and (_speaks_of(head, profile) or not head.rstrip().endswith("?"))
        text = tail.strip() if told else text
    parts = [part.strip() for part in re.split(r"(?<=[?!.])\s+", text) if part.strip()]
    asking = [part for part in parts if part.endswith("?")]
    if len(asking) == 1 and len(parts) > 1 and len(asking[0].split()) >= 3:
        return asking[0]
    return text


def _speaks_of(head: str, profile: Profile) -> bool:
    return any(
        meaning in profile.weights
        for token in tokens(head)
        if token.lower not in STOP_WORDS
        for meaning in meanings(token.stem)
    )


def _sought(taken: Taken, profile: Profile) -> str | None:
    """What a search is for."""
    quote = _quoted(taken)
    if quote is not None:
        taken.used.append(quote)
        return quote.text
    rest = _BETWEEN.sub(" ", taken.remaining())
    rest = _POLITE.sub("", rest)
    matches = list(_SOUGHT.finditer(rest))
    for match in matches:
        found = _trimmed(_INSIDE.sub("", rest[match.end() :]))
        found = _LEADING.sub("", found)
        if found and not _only_things(found, profile):
            return found
    return None


def _only_things(text: str, profile: Profile) -> bool:
    """Whether a text says no more than which things the tool is about."""
    return all(
        word.lower in STOP_WORDS or set(meanings(word.stem)) & profile.nouns for word in tokens(text)
    )


def _content(taken: Taken, profile: Profile) -> str | None:
    """What is to be made: the message without the order to make it and without other arguments."""
    quote = _quoted(taken)
    if quote is not None:
        taken.used.append(quote)
        return quote.text
    rest = taken.remaining(_order_end(taken, profile))
    rest = rest.split("\0", 1)[0] if _substance(rest.split("\0", 1)[0]) else _BETWEEN.sub(" ", rest)
    rest = _POLITE.sub("", rest)
    rest = re.sub(r"\s+(?:to|on|in|onto|into)\s+(?:my|the|our)\s+(?:\w+[- ]?)?(?:list|todos?|tasks?|\w+s)\s*$", "", rest) if _ends_with_things(rest, profile) else rest
    text = _trimmed(rest)
    return text if _substance(text) else None


def _ends_with_things(text: str, profile: Profile) -> bool:
    last = tokens(text)[-2:]
    return any(set(meanings(token.stem)) & profile.nouns or token.stem == "list" for token in last)


def _substance(text: str) -> bool:
    return any(token.lower not in STOP_WORDS for token in tokens(text))


_OPENERS: Final = frozenset(
    "i you we can could would should will please pls hey hi hello kindly really must need have want to "
    "me my a an the new that this it not forget mind do don't dont for called titled named with of on "
    "about is it's just also some another us at all be so by in list entry item point".split()
)


def _order_end(taken: Taken, profile: Profile) -> int:
    """Where the order ends: after the verb, the thing, and the words that join them to the content."""
    ordered = False
    for token in taken.message.tokens:
        verb = ACTIONS.get(token.stem) is Action.CREATE
        thing = bool(set(meanings(token.stem)) & _own_nouns(profile))
        if verb or thing:
            ordered = True
        elif token.lower not in _OPENERS:
            return token.start if ordered else 0
        elif ordered and token.lower in ("called", "titled", "named"):
            return token.end
    return len(taken.message.text) if ordered else 0


def _own_nouns(profile: Profile) -> set[str]:
    parts = [stem(part) for part in name_parts(profile.name)]
    return {meaning for part in parts if part not in ACTIONS for meaning in meanings(part)}


def _trimmed(text: str) -> str:
    text = text.strip(_EDGES)
    while (shorter := _TRAILING.sub("", text).strip(_EDGES)) != text:
        text = shorter
    return text
