"""The text a tool cannot do without: a question, what is sought, or what is to be made."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from agent.router.extract.taken import Taken
from agent.router.extract.wording import only_sought, without_aim, without_lead
from agent.router.message import greeting_end
from agent.router.openers import opener_end
from agent.router.parameters import Parameter, Type
from agent.router.profile import Profile
from agent.router.said_values import Kind, Value
from agent.router.thesaurus import ACTIONS, PUTTING, Action, meanings
from agent.router.words import STOP_WORDS, Token, name_parts, stem, tokens, word_set

LONGEST_TRIMMED: Final = 200
# A message says what is sought behind one of its first words for that.
MOST_SOUGHT: Final = 20
EDGES: Final = " \t\r\n,.;:!?-–—\0\"'“”‘’"
_SOUGHT: Final = re.compile(
    r"\b(?:(?:anything|something|an? [\w-]{2,20}|any [\w-]{2,20}) on(?! (?:my|the|our) (?:\S+ )?list\b)|has the words?|the words?|mention(?:s|ing|ed)?|contain(?:s|ing|ed)?|to do with|refer(?:s|ring)? to|about|regarding|concerning|matching|for|named|called"
    r"|with)\b(?:\s+the\s+(?:word|term|text|keyword)s?)?\s+",
    re.IGNORECASE,
)
_INSIDE: Final = re.compile(
    r"\s(?:in|among|within|from|on|inside|of)\s(?:my|the|our|all)\b.{0,80}$",
    re.IGNORECASE | re.DOTALL,
)
_PROPER: Final = re.compile(
    r"\b(?:in|for|of|at|from|near|to|about)\s((?:[^\W\d_a-z][\w'’-]{0,40}\s?)+)(?<=\w)"
)
# What a text is followed by when the order comes last: "…, can you put that on my list".
_ASKED_AFTER: Final = re.compile(
    r"(?:[,.;]|\s[-–—])\s*(?:(?:and |so )?(?:please |pls )?(?:can|could|would|will) you\b|(?:please |pls )?(?:add|put|note|remind)"
    r" (?:that|it|this|me|us)\b|i need that as\b)",
    re.IGNORECASE,
)
# An order that comes after something else: "…, can you add a todo to …".
_ORDERED_LATER: Final = re.compile(
    r"[,.;!?]\s+(?:(?:so|and|anyway|please|pls|can|could|would|will|you)\s+)*"
    r"(?=(?:add|create|make|set up) (?:(?:me|that|it|this) )?(?:an?|another)\b)",
    re.IGNORECASE,
)
_BEING_DUE: Final = re.compile(
    r"^\W*(?:so |and )?(?:i|we)(?:['’]ve|['’]ll)?(?: really| also| still)*(?: have| need| must| should| ought| got| gotta)"
    r"(?: got)?(?: to)?\s+(?=\w)"
    r"|^(?:sure )?(?:that )?(?:i|we) (?:don['’]t|do not) forget(?: to)?\s+(?=\w)",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(
    r"^(?:(?:any|some)thing (?:about|on|regarding)|the|a|an|my|any|some|that|this)\s+",
    re.IGNORECASE,
)
# "track this as a task: …"
_AS_A_THING: Final = re.compile(r"\b(?:as|into) (?:an?|another) (?:new )?\S+$", re.IGNORECASE)
_GAP: Final = re.compile(r"\0+")
_SENTENCES: Final = re.compile(r"(?<=[?!.])\s")
_LAST_WORD: Final = re.compile(r"(?:^|[\s,;:\0])(\S{1,12})$")
# Words that lead to something; where nothing follows any more, they go too.
_DANGLING: Final = word_set(
    "with on by and due at for to of in it is it's the a as tagged tag tags until please pls plz thx "
    "thanks"
)
_POLITE: Final = (
    *("thank you so much", "thank you very much", "thank you", "for me"),
    *("can you", "could you", "would you", "will you"),
)
_OPENERS: Final = word_set(
    "let let's i'd we'd i'll like i you u we can could would should will please pls hey hi hello kindly really must need have want "
    "to me my a an the new that this it not forget mind do don't dont for called titled named title with of "
    "on about is it's just also some another us at all be so by in list entry item point down"
)
# How people begin once more.
_CORRECTING: Final = word_set("sorry oops actually i meant mean no wait instead rather say")
_BEFORE_ORDERS: Final = _CORRECTING | {"set", "up", "ad"}
_QUALITIES: Final = word_set(
    "high low top highest lowest medium priority urgent important quick small"
)
_NAMING: Final = word_set("called titled named title")


def take_main_text(taken: Taken, profile: Profile) -> None:
    """Take the first text that the tool requires."""
    main = next((one for one in profile.parameters if is_main(one, profile)), None)
    if main is None or main.name in taken.arguments:
        return
    quote = None if profile.answers_questions else quoted(taken)
    if profile.answers_questions:
        text: str | None = _question(taken, profile)
    elif quote is not None:
        text = quote.text
    elif profile.action is Action.CREATE:
        text = _content(taken, profile)
    else:
        text = _sought(taken, profile)
    text = _cut(text, main) if text else None
    if text and main.allows(text):
        # Of a quote that was cut, the rest has no place in the call.
        taken.take_text(main.name, text, quote if quote and quote.text == text else None)


def is_main(one: Parameter, profile: Profile) -> bool:
    """Whether a parameter is the text that the tool is given."""
    texts = [p for p in profile.required if p.type is Type.TEXT and not p.is_id]
    return bool(texts) and one is texts[0]


def quoted(taken: Taken) -> Value | None:
    """What stands in quotes and is not taken yet."""
    return next(iter(taken.free(Kind.QUOTED)), None)


def trimmed(text: str) -> str:
    """A text without what hangs over at its ends; nobody ends with hundreds of letters of that."""
    text = text.strip(EDGES)
    head, tail = text[:-LONGEST_TRIMMED], text[-LONGEST_TRIMMED:]
    while tail:
        polite = next((one for one in _POLITE if tail.lower().endswith(f" {one}")), "")
        last = _LAST_WORD.search(tail[-14:])
        if polite:
            tail = tail[: -len(polite)]
        elif last and last[1].lower() in _DANGLING:
            tail = tail[: -len(last[1])]
        else:
            break
        tail = tail.rstrip(EDGES)
    return (head + tail).strip(EDGES)


def _cut(text: str, one: Parameter) -> str:
    """As much of a text as the schema allows, ending with a word."""
    most = one.schema.get("maxLength")
    if not isinstance(most, int) or isinstance(most, bool) or not 0 < most < len(text):
        return text
    return text[:most].rsplit(" ", 1)[0] or text[:most]


def _question(taken: Taken, profile: Profile) -> str:
    """The question itself, without how it is to be answered where the two stand apart."""
    text = taken.message.text[greeting_end(taken.message.text) :].strip()
    head, colon, tail = text.partition(":")
    if colon and len(tail.split()) >= 2 and len(head) < 200 and "?" not in head:
        text = tail.strip()
    parts = [part.strip() for part in _SENTENCES.split(text) if part.strip()]
    asking = [part for part in parts if part.endswith("?") and len(part.split()) >= 3]
    return asking[0] if len(asking) == 1 else text


def _sought(taken: Taken, profile: Profile) -> str | None:
    """What a search is for."""
    rest = taken.remaining()
    if profile.action is not Action.SEARCH and (match := _PROPER.search(rest)):
        return match[1]
    rest = trimmed(_GAP.sub(" ", rest))
    for match in islice(_SOUGHT.finditer(rest), MOST_SOUGHT):
        found = _INSIDE.sub("", trimmed(only_sought(rest[match.end() :])))
        found = only_sought(_LEADING.sub("", trimmed(found)))
        if found and not _only_things(found, profile):
            return found
    return None


def _only_things(text: str, profile: Profile) -> bool:
    """Whether a text says no more than which things the tool is about."""
    return all(
        word.lower in STOP_WORDS or set(meanings(word.stem)) & profile.nouns
        for word in tokens(text)
    )


def _content(taken: Taken, profile: Profile) -> str | None:
    """What is to be made: the message without the order to make it and without other arguments."""
    end = _order_end(taken, profile)
    rest = taken.remaining(end)
    if not _substance(rest.replace("\0", "")) and end:
        # The order comes last: "gotta email Priya, make me a todo".
        later = _ORDERED_LATER.search(taken.message.text)
        rest = taken.remaining()[: later.start()] if later else rest
    rest = without_aim(rest)
    # What stands before the first other argument; all that is left, where nothing does.
    first = rest.split("\0", 1)[0]
    rest = first if _substance(first) else _GAP.sub(" ", rest)
    aside = _ASKED_AFTER.search(rest)
    if aside and _substance(rest[: aside.start()]):
        rest = rest[: aside.start()]
    text = trimmed(_without_place(trimmed(rest), profile))
    text = re.sub(r"^that\s+(?=(?:the|my|our)\b)", "", text, flags=re.IGNORECASE)
    text = trimmed(without_lead(_BEING_DUE.sub("", text)))
    return text if _substance(text) else None


def _without_place(text: str, profile: Profile) -> str:
    """A text without where its thing is to go: `… to my todos`, `… on the list`."""
    words = tokens(text)
    for count in (3, 4):
        place = words[-count:]
        if len(words) > count and _is_place(place, _own_nouns(profile)):
            return text[: place[0].start]
    return text


def _is_place(words: list[Token], things: set[str]) -> bool:
    leads = words[0].lower in ("to", "on", "in", "onto", "into")
    owned = words[1].lower in ("my", "the", "our")
    return (
        leads
        and owned
        and (words[-1].stem == "list" or bool(set(meanings(words[-1].stem)) & things))
    )


def _substance(text: str) -> bool:
    return any(token.lower not in STOP_WORDS for token in tokens(text))


def _order_end(taken: Taken, profile: Profile) -> int:
    """Where the order ends: after the verb, the thing, and the words that join them to the content."""
    headed = _heading_end(taken, profile)
    if headed:
        return headed
    opened = opener_end(taken.message.lowered, _own_nouns(profile))
    if opened:
        return opened
    later = _ORDERED_LATER.search(taken.message.text)
    end = _end_of_order(taken, profile, 0)
    return end or (_end_of_order(taken, profile, later.end()) if later else 0)


def _end_of_order(taken: Taken, profile: Profile, start: int) -> int:
    """Where an order ends that begins at a place; 0 where none does."""
    ordered = False
    putting = re.search(PUTTING, taken.message.lowered)
    words = [token for token in taken.message.tokens if token.start >= start]
    for place, token in enumerate(words):
        verb = ACTIONS.get(token.stem) is Action.CREATE
        verb = verb or bool(putting and token.start == putting.start())
        if verb or set(meanings(token.stem)) & _own_nouns(profile):
            ordered = True
            if taken.message.text[token.end : token.end + 1] == ":":
                return token.end + 1
        elif token.lower in (_QUALITIES if ordered else _BEFORE_ORDERS):
            if ordered and not _leads_to_thing(words[place + 1 : place + 4], profile):
                return token.start
        elif token.lower not in _OPENERS:
            return token.start if ordered else 0
        elif ordered and token.lower in _NAMING:
            return token.end
    return len(taken.message.text) if ordered else 0


def _leads_to_thing(words: Sequence[Token], profile: Profile) -> bool:
    """Whether a word for how a thing is stands before its name: "a low priority todo"."""
    return any(set(meanings(one.stem)) & _own_nouns(profile) for one in words)


def _heading_end(taken: Taken, profile: Profile) -> int:
    """Where a heading that orders and ends with the thing is over: `… on my todo list: `."""
    head, colon, _ = taken.message.text.partition(":")
    words = tokens(head)
    orders = any(ACTIONS.get(word.stem) is Action.CREATE for word in words)
    orders = orders or bool(_AS_A_THING.search(head))
    last = [word for word in words[-2:] if word.lower not in ("list", "item", "entry")][-1:]
    named = any(set(meanings(word.stem)) & _own_nouns(profile) for word in last)
    return len(head) + 1 if colon and orders and named else 0


def _own_nouns(profile: Profile) -> set[str]:
    parts = [stem(part) for part in name_parts(profile.name)]
    return {meaning for part in parts if part not in ACTIONS for meaning in meanings(part)}
