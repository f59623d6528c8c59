"""What a call of a tool does to the world, as far as its verb and its server tell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import dropwhile, pairwise
from typing import Final

from agent.router.thesaurus import ACTIONS, READING, WRITING, Action
from agent.router.values import Offered
from agent.router.words import Token, name_parts, stem, tokens, word_set

# Verbs of names and descriptions that change nothing, beside those a message may order with.
_HARMLESS: Final = frozenset(
    stem(word)
    for word in word_set(
        "answer ask explain count compare compute calculate estimate summarise summarize "
        "translate preview validate verify analyse analyze measure"
    )
)
# What can only be told. None of these is a verb for a deed, and none can be sent, paid or undone.
_KNOWLEDGE: Final = frozenset(
    stem(word)
    for word in word_set(
        "weather forecast temperature humidity rate price status metric statistic stats figure info "
        "information detail data history version news time timezone distance population definition "
        "summary overview"
    )
)
# What may stand between the beginning of a description and what the tool gives.
_GIVING: Final = word_set("return returns look looks up provide provides")
_QUALIFYING: Final = word_set(
    "the a an all some current currently latest recent live actual todays today's daily "
    "hourly historical detailed basic general list lists table of"
)
_BEHIND: Final = word_set("of for in at between from on by with as about per over within")
# Beside the verbs that change something: where a description has one of these, it is no mere telling.
_DEEDS: Final = frozenset(
    stem(word)
    for word in word_set(
        "reset restart refresh clear cancel send pay refund revoke charge book buy order trigger run start stop "
        "write save store submit publish post notify replace overwrite kill sign swap sell execute exec reboot "
        "terminate install uninstall enable disable grant deploy unlock lock upload invite approve reject transfer "
        "subscribe unsubscribe ship deliver reserve block ban merge rotate flush migrate restore rollback"
    )
)
# Of all those, the ones that are no nouns: list_orders lists, get_create_user does not just get.
_NO_NOUNS: Final = frozenset(
    stem(word)
    for word in word_set(
        "create add append delete remove erase discard destroy purge wipe edit modify rename retitle reschedule "
        "postpone adjust alter reopen assign cancel send pay revoke buy execute exec submit publish notify kill "
        "sell replace overwrite write save reboot terminate uninstall enable disable deploy unlock "
        "approve reject subscribe unsubscribe deliver"
    )
)
_JOINING: Final = word_set("and or then")
# Behind one of these words a verb has its object: "and marks them read".
_OBJECTS: Final = word_set("it them this that these those the a an its their all each any one")
# "Lists an item" may put it up for sale; who lists what there is lists several.
_LISTING: Final = stem("list")
_SINGLE: Final = word_set("a an")
# These may well do something: give a refund, check out an order, tell a customer, print a label.
_TWOFOLD: Final = frozenset(stem(word) for word in word_set("give gimme check tell print"))


_SENTENCE: Final = re.compile(r"(?<=[.;])\s")


class Effect(StrEnum):
    """What a call does. What is not known to read, write or destroy acts in some way."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"
    ACTS = "acts"


def effect(tool: Offered, action: Action | None, lead: str) -> Effect:
    """The effect of a tool.

    Its server's word counts where the verb does not say otherwise: nothing named for deleting is
    harmless.
    """
    if action is Action.DELETE or _deletes(tool.name):
        return Effect.DESTROYS
    if tool.read_only:
        return Effect.READS
    if action in (Action.CREATE, Action.UPDATE):
        return Effect.WRITES
    reads = _reads(tool, lead) or _tells_what_it_is_named_for(tool, lead)
    return Effect.READS if reads and not tool.destructive else Effect.ACTS


def own_verbs(name: str, lead: str) -> frozenset[str]:
    """The stems of the words that can order what an acting tool does.

    The one that begins its description, where its name has it too ("Refunds an order", refund_order);
    else the first of its name. Whoever asks it to read asks for no more: those of get_or_create_user are
    its other ones.
    """
    parts = [stem(part) for part in name_parts(name)]
    own = {first_stem(lead)} & set(parts) or set(parts[:1])
    return frozenset(one for one in own if not _harmless(one)) or frozenset(_deeds(name))


def tells_verb(name: str, lead: str) -> bool:
    """Whether name and description have their verb in common, so that it is no guess."""
    return first_stem(lead) in [stem(part) for part in name_parts(name)]


def _reads(tool: Offered, lead: str) -> bool:
    """Whether a reading verb leads and nothing in name and description tells of a deed beside it.

    A verb further on may be a noun, as in reset_view or clear_list.
    """
    first = [stem(part) for part in name_parts(tool.name)[:1]]
    reads = _harmless(first_stem(lead)) or any(map(_harmless, first))
    acts = _begins_with_a_deed(tool.name) or _deeds(tool.name) or _tells_a_deed(tool, lead)
    return reads and not acts


def _begins_with_a_deed(name: str) -> bool:
    """Whether a name begins with a verb for a deed: run_sql, but not orders nor order_history."""
    words = name_parts(name)
    parts = [stem(part) for part in words]
    if not parts or parts[0] in _NO_NOUNS:
        return bool(parts)
    noun = not parts[1:] or words[0].endswith("s") or parts[-1] in _KNOWLEDGE
    return parts[0] in _DEEDS and not noun


def _deeds(name: str) -> list[str]:
    """The verbs of a name, behind its first, that are more than reading; "deleted" is none."""
    words = name_parts(name)
    parts = [stem(part) for part in words]
    return [
        part
        for place, part in enumerate(parts)
        if place
        and ((words[place - 1] in _JOINING and not _harmless(part)) or part in _NO_NOUNS)
        and not words[place].endswith("ed")
    ]


def _deletes(name: str) -> bool:
    return any(ACTIONS.get(part) is Action.DELETE for part in _deeds(name))


def _tells_a_deed(tool: Offered, lead: str) -> bool:
    """Whether a description says that more is done: "Gets messages and marks them read"."""
    first, *_ = _SENTENCE.split(lead, maxsplit=1)
    words = tokens(first)
    if words and _does(words[0], words[1:2]):
        return True
    if words[1:2] and words[0].stem == _LISTING and words[1].lower in _SINGLE:
        noun = name_parts(tool.name)[-1:]
        return not any(part.endswith("s") for part in noun)
    return any(
        one.lower in _JOINING and _does(verb, words[place + 2 : place + 3])
        for place, (one, verb) in enumerate(pairwise(words))
    )


def _does(word: Token, behind: Sequence[Token]) -> bool:
    """Whether a word is a verb for a deed, and no noun: "marks them", not "orders of a customer"."""
    if word.lower.endswith(("ed", "ing")):
        return False
    known = ACTIONS.get(word.stem) in WRITING or word.stem in _DEEDS
    return word.stem in _NO_NOUNS or (known and any(one.lower in _OBJECTS for one in behind))


def _harmless(word: str) -> bool:
    return word not in _TWOFOLD and (ACTIONS.get(word) in READING or word in _HARMLESS)


def first_stem(lead: str) -> str:
    return next((token.stem for token in tokens(lead)[:1]), "")


def _tells_what_it_is_named_for(tool: Offered, lead: str) -> bool:
    """Whether a tool named by a noun says that it gives just that: exchange_rate, "The latest exchange rate".

    A noun alone proves nothing, since "refund" and "restart" are nouns as well. So it has to be one of
    knowledge, to lead the description, and no word of the description may tell of a deed.
    """
    named = [stem(part) for part in name_parts(tool.name)]
    if not named or named[-1] not in _KNOWLEDGE or _does_something(tool):
        return False
    said = tokens(lead)
    words = list(dropwhile(lambda one: one.lower in _GIVING | _QUALIFYING, said))
    if [one.stem for one in words[: len(named)]] != named:
        return False
    if len(named) > 1 and len(words) == len(said):
        # "Migrate data of a server" is an order, "the migrated data" is not.
        return False
    behind = list(dropwhile(lambda one: one.stem in _KNOWLEDGE, words[len(named) :]))
    return not behind or behind[0].lower in _BEHIND or _apart(lead, behind[0])


def _does_something(tool: Offered) -> bool:
    said = {one.stem for one in tokens(tool.description or "")} | set(
        map(stem, name_parts(tool.name))
    )
    return any(ACTIONS.get(one) in WRITING or one in _DEEDS for one in said)


def _apart(text: str, word: Token) -> bool:
    """Whether a mark parts a word from the one before it: "Weather: temperature and wind"."""
    return text[: word.start].rstrip()[-1:] in (",", ":", ";", ".", "(", "-", "–")
