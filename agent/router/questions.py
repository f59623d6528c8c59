"""How well a tool that answers questions fits one, by how it is put and how it is to be answered."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

from agent.router.extract.numbers import alike
from agent.router.message import Message
from agent.router.parameters import Parameter
from agent.router.permits import telling_name
from agent.router.profile import Catalogue, Profile
from agent.router.said_values import Kind
from agent.router.thesaurus import meanings, phrase_meanings
from agent.router.words import STOP_WORDS, stem, tokens

# Chosen on the development part of the intents.
QUESTION: Final = 2.2
GENERAL: Final = 1.2
FROM_DOCUMENTS: Final = 3.0
MANNER: Final = 3.0
# What is longer is no word that fits a form by chance.
LONGEST_WORD: Final = 20
OF_A_CODE: Final = -2.5
OF_THE_SERVICE: Final = -2.5
# No document tells how a service does at this moment.
_OF_THE_SERVICE: Final = re.compile(
    r"^\W*(?:is|are)\b.{1,60}\b(?:working|running|up|down|healthy|operational|broken|available)"
    r"(?: (?:now|today|again|properly|right now|at the moment))?\W*$"
    r"|\b(?:usage|latenc(?:y|ies)|response times?|error (?:rates?|counts?)|uptime|hit rate|throughput) (?:of|for|in|over)\b"
    r"|\bhow (?:did|does|do|well did|well does) .{1,40}\bperform(?:ed)?\b|\bwhich (?:\w+ )?(?:techniques?|pipelines?|retrievers?)\b"
    r"|\b(?:service|server|system) (?:been up|doing)\b|\bhow (?:is|are) the (?:service|server|system)s? (?:doing|performing)\b"
)
# How a question is to be answered may stand before it: "double-check this: …", "with reranking, …".
_MANNER: Final = re.compile(
    r"^(?P<head>[^:?]{3,160}?)(?::|\s[-–—]+)\s+\S+\s\S"
    r"|^(?:(?:with|using|by|via|use|run|through)\s)(?P<led>[^,:?]{3,80}?)(?:,| to | and )"
)


# What has to be done, and when, is a rule; no catalogue tells rules.
RULES: Final = re.compile(
    r"^\W*(?:(?:so|ok|hi|hey)\W+)?(?:(?:do|does|did) (?:\w+ ){1,3}(?:have|need) to\b|(?:must|should|may) (?:i|we|you|they|new|all|the|a|an)\b"
    r"|(?:am|are|is) (?:\w+ ){1,3}(?:allowed|required|obliged|supposed|permitted) to\b|what (?:must|should) (?!i\b|we\b)"
    r"|what (?:do|does|must|should) (?:i|we|you) (?:\w+ ){0,3}(?:if|when|in case)\b)"
)


def question(profile: Profile, message: Message, catalogue: Catalogue) -> float:
    if not profile.answers_questions:
        return 0.0
    named = any(catalogue.is_rare(one) for one in telling_name(profile) & message.meanings)
    put = message.asks or message.tells or message.from_documents or named
    manner = says_manner(profile, message, catalogue)
    asked = QUESTION if put or manner else 0.0
    asked += MANNER if manner else 0.0
    if any(shaped(one, message) for one in catalogue.profiles if not one.answers_questions):
        # Who asks about a thing by its code asks whatever knows it by that.
        asked += OF_A_CODE
    if _OF_THE_SERVICE.search(message.lowered) and not manner:
        asked += OF_THE_SERVICE
    if RULES.search(message.lowered) and stem("todo") not in message.meanings:
        asked += FROM_DOCUMENTS
    if message.from_documents and stem("document") in profile.weights:
        asked += FROM_DOCUMENTS
    return asked + (GENERAL if profile.is_general else 0.0)


def shaped(profile: Profile, message: Message) -> bool:
    """Whether the message has a value that looks like the examples of one the tool needs."""
    return any(
        alike(value.text, one.examples) or _has_form(one, value.text)
        for one in profile.required
        for value in message.values
        if value.kind is Kind.CODE
    )


def says_manner(profile: Profile, message: Message, catalogue: Catalogue) -> bool:
    """Whether the message begins with a way to answer that hardly another tool has."""
    return any(
        catalogue.is_rare(one) and one in profile.weights for one in manner_of(message.lowered)
    )


def manner_of(lowered: str) -> AbstractSet[str]:
    """What the words mean that only say how a question is to be answered."""
    match = _MANNER.match(lowered)
    if not match:
        return frozenset()
    head = (match["head"] or match["led"]).replace("-", " - ")
    said = {
        one for word in tokens(head) if word.lower not in STOP_WORDS for one in meanings(word.stem)
    }
    return said | phrase_meanings(head)


def _has_form(one: Parameter, text: str) -> bool:
    """Whether a schema tells the whole form of a code, and a text has it."""
    pattern = one.schema.get("pattern")
    whole = isinstance(pattern, str) and pattern.startswith("^") and pattern.endswith("$")
    return whole and len(text) > LONGEST_WORD and one.allows(text)
