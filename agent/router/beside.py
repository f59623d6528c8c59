"""What a message says beside the arguments of a call: the words that have to be accounted for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agent.router.extract import Extracted
from agent.router.extract.taken import Span
from agent.router.message import Message
from agent.router.profile import Profile
from agent.router.said_values import Kind
from agent.router.words import Token

_COURTESY: Final = re.compile(
    r"\W*(?:(?:(?:would|do) you mind|please|pls|plz|kindly|hey|hi|hello|there|ok|okay|well|so|now|just|also|then|and|anyway|thanks"
    r"|thank you|sorry|oops|i meant?(?! to\b)|good (?:morning|afternoon|evening)|(?:can|could|would|will) (?:you|u)\b(?: be so (?:good|kind) as to)?"
    r"|i(?:['’]d| would) like (?:you )?to|i want (?:you )?to|i need you to|go ahead and|let['’]s"
    r"|you (?:can|may|should))\b[\s]*)*",
    re.IGNORECASE,
)
# Behind an order these change nothing of it.
_CLOSING: Final = re.compile(
    r"\b(?:please|pls|plz|(?:many )?thanks(?: a lot)?|thank you(?: (?:so|very) much)?|right (?:now|away)|now"
    r"|immediately|asap|at once|permanently|for good|for me|if you (?:can|could|don['’]t mind)"
    r"|if (?:(?:that|it)(?:['’]s| is) )?(?:possible|ok|okay))\b",
    re.IGNORECASE,
)
# Whole clauses that only say why, or how it came to mind.
_ASIDE: Final = re.compile(
    r"\W*(?:(?:i|we) (?:don['’]?t|do not|no longer) need (?:it|that)(?: any ?more| now)?"
    r"|it(?:['’]s| was| is) (?:a mistake|obsolete|no longer needed|urgent|important)"
    r"|i \w{1,20} it(?: off)? by (?:mistake|accident)|before i forget(?: it)?)\W*",
    re.IGNORECASE,
)
_UNNEEDED: Final = re.compile(
    r"\b(?:i|we) (?:don['’]?t|do not|no longer) need (?=(?:[\w-]{1,20} ){0,2}#?\d)|(?<=\d) any ?more\b",
    re.IGNORECASE,
)
# Where things are, as people say it; it singles none out.
_PLACE: Final = re.compile(
    r"\b(?:on|in|from|off|to|onto) (?:my|our|the) (?:(?:to-?do|task)s? )?list\b", re.IGNORECASE
)
# The short form of "number"; anywhere else "no" is a denial.
_NUMBER: Final = re.compile(r"\bno\b\.?\s?(?=#?\d)", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r"[,.;:!?\n]|\s[–—-]\s")
_ODD: Final = re.compile(r"[^\w\s.,:;!?()\"'“”‘’`«»#–—…-]")
_MINDING: Final = re.compile(r"\byou mind $", re.IGNORECASE)
SHORTEST_GERUND: Final = 4
_POLITE_QUESTION: Final = re.compile(r"\b(?:can|could|would|will|do) (?:you|u)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A word that is part of no argument, or the place of an argument, which has a name then."""

    start: int
    word: Token | None = None
    name: str = ""

    @property
    def lower(self) -> str:
        return self.word.lower if self.word else ""


@dataclass(frozen=True, slots=True)
class Beside:
    """The pieces of a message in order, without courtesies, and the words that begin its clauses.

    `rest` is the text with blanks for the arguments.

    `plain` is false where it has marks that nobody puts into an order, or asks without asking politely.
    """

    pieces: Sequence[Piece]
    leads: Sequence[Token]
    rest: str
    plain: bool

    def led_by(self, orders: Callable[[Token], bool]) -> Token | None:
        """The first of the words that begin a clause which orders what is meant.

        It has to be a plain form: "deleted" orders nothing, nor does "deleting" but after "would you mind".
        """
        return next((one for one in self.leads if self._is_plain(one) and orders(one)), None)

    def without(self, *spans: Span | None) -> Sequence[Piece]:
        """The pieces, but for the words there."""
        return [
            one
            for one in self.pieces
            if one.name or not any(span and span[0] <= one.start < span[1] for span in spans)
        ]

    def _is_plain(self, word: Token) -> bool:
        if word.lower.endswith("ing") and len(word.lower) > SHORTEST_GERUND:
            return bool(_MINDING.search(self.rest, 0, word.start))
        return not word.lower.endswith("ed")


def beside(profile: Profile, message: Message, extracted: Extracted) -> Beside:
    """What is said beside the arguments."""
    text = message.text
    told = list(_argument_spans(profile, extracted))
    in_arguments = _covered(text, [span for _, span in told])
    texts = [span for name in extracted.loose for span in extracted.places.get(name, ())]
    texts += [(one.start, one.end) for one in message.values if one.kind is Kind.QUOTED]
    in_texts = _covered(text, texts)
    nothing, begins = _courtesies(text, in_arguments)
    in_nothing = _covered(text, nothing)
    words = [
        Piece(one.start, one)
        for one in message.tokens
        if not _is_told(one, in_arguments, in_nothing)
    ]
    arguments = [Piece(start, name=name) for name, (start, _) in told]
    starting = [first for at in begins for first in message.after(at, 1)]
    rest = "".join(
        " " if covered else char for char, covered in zip(text, in_arguments, strict=True)
    )
    asks = "?" in rest and not _POLITE_QUESTION.search(rest)
    return Beside(
        sorted((*words, *arguments), key=lambda one: one.start),
        [one for one in starting if not in_texts[one.start]],
        rest,
        plain=not asks and not _ODD.search(rest),
    )


def overlap(extracted: Extracted) -> bool:
    """Whether one part of the message went into two arguments."""
    spans = sorted(
        (*span, name)
        for name in extracted.places
        for span in (*extracted.places[name], *extracted.announced.get(name, ()))
        if span[0] < span[1]
    )
    reached: dict[str, int] = {}
    for start, end, name in spans:
        if any(start < other_end for other, other_end in reached.items() if other != name):
            return True
        reached[name] = max(end, reached.get(name, 0))
    return False


def _argument_spans(profile: Profile, extracted: Extracted) -> Iterator[tuple[str, Span]]:
    """Where arguments stand; of those that name a thing, the word before the number is left to be judged."""
    named = {one.name for one in profile.required if one.is_id}
    for name, places in extracted.places.items():
        announced = () if name in named else extracted.announced.get(name, ())
        for span in (*places, *announced):
            if span[0] < span[1]:
                yield name, span


def _courtesies(text: str, in_arguments: bytearray) -> tuple[list[Span], list[int]]:
    """The places that say nothing of the order, and where the clauses begin behind their courtesies."""
    ends = [one.span() for one in _CLAUSE_END.finditer(text) if not in_arguments[one.start()]]
    starts = [0, *(end for _, end in ends)]
    nothing = [
        one.span()
        for pattern in (_CLOSING, _UNNEEDED, _PLACE, _NUMBER)
        for one in pattern.finditer(text)
    ]
    begins = []
    for start, end in zip(starts, [*(start for start, _ in ends), len(text)], strict=True):
        if _ASIDE.fullmatch(text, start, end):
            nothing.append((start, end))
            continue
        courtesy = _COURTESY.match(text, start, end)
        begins.append(courtesy.end() if courtesy else start)
        nothing.append((start, begins[-1]))
    return nothing, begins


def _is_told(word: Token, *covered: bytearray) -> bool:
    """Whether all of a word is accounted for: "17.wait" is more than the number 17."""
    end = word.end - 2 if word.lower.endswith(("'s", "’s")) else word.end
    return all(any(one[at] for one in covered) for at in range(word.start, end))


def _covered(text: str, spans: Sequence[Span]) -> bytearray:
    """For each character of a text whether one of the spans has it."""
    covered = bytearray(len(text))
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    return covered
