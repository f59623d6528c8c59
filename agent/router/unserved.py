"""Orders for what no tool does: "draw me a sheep", "phone the vet", "play some music"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.router.message import Message
from agent.router.profile import Profile
from agent.router.questions import shaped
from agent.router.thesaurus import ACTIONS
from agent.router.words import name_parts, stem, tokens, word_set

# What assistants are asked to do in the world; only where the tools' names have no such verb.
_DEEDS: Final = frozenset(
    map(
        stem,
        word_set(
            "phone ring call dial text email mail send draw paint sketch play sing dance hum translate book "
            "reserve order buy purchase pay transfer convert calculate cook bake drive fly switch turn dim "
            "unlock film photograph scan upload download install reboot restart water feed clean "
            "wash navigate hail summon invite tweet post compose rhyme recite wake charge deliver ship mute "
            "unmute skip pause hire rent sell invest bet vote whistle fetch bring knit build design render "
            "transcribe subscribe unsubscribe ping message whatsapp facetime videocall google"
        ),
    )
)
_HEAD: Final = re.compile(
    r"(?:^|[,.!?;]\s|\b(?:and|so) )\W*(?:(?:please|pls|just|quickly|now|ok|hey|hi|hello|kindly|go ahead and)\W+)*"
    r"(?:(?:can|could|would|will) you (?:please |just |quickly )?|i (?:want|need|would like) you to |i'd like you to )"
    r"([a-z]+)\b(?!-| (?:up|out|on|back|for|from)\b)"
    r"|^\W*(?:(?:please|pls|just|quickly|now|ok|hey|hi|hello|kindly|go ahead and)\W+)*([a-z]+)\b(?!-| (?:up|out|back|for|from|of|by)\b)"
)
# A noun has no object: "order forms", "call times", "water quality".
_OBJECT: Final = word_set(
    "me us my our the a an this that some these those him her them it to into for off on two"
)
_MONEY: Final = re.compile(
    r"(£|pounds?\b|gbp\b|sterling\b)|(€|euros?\b|eur\b)|(\$|dollars?\b|usd\b|bucks\b)|(¥|yen\b|jpy\b)"
    r"|(francs?\b|chf\b)|(rupees?\b|inr\b)|(zloty\b|pln\b)|(kron[ae]r?\b|sek\b|nok\b|dkk\b)"
)
_SORTED: Final = re.compile(r"\bby\b")
_PICTURE: Final = re.compile(
    r"^\W*(?:please |(?:can|could|would|will) you )?(?:take|snap|shoot|make) (?:me )?(?:an?|some|my) (?:\w+ )?(?:photo|picture|selfie|screenshot|video|coffee|tea|cup|sandwich)s?\b"
)
_NUMBER: Final = re.compile(r"\d")


def unserved(message: Message, profiles: Sequence[Profile]) -> bool:
    """Whether a message orders what no tool is named for, or asks what money is worth now."""
    if message.from_documents or any(shaped(one, message) for one in profiles):
        return False
    kinds = {match.lastindex for match in _MONEY.finditer(message.lowered)}
    if len(kinds) > 1 and message.asks and _NUMBER.search(message.lowered):
        return True
    if _PICTURE.match(message.lowered):
        return True
    own = {stem(part) for one in profiles for part in name_parts(one.name)}
    own |= {one.begins for one in profiles}
    for match in _HEAD.finditer(message.lowered):
        verb = stem(match[1] or match[2])
        group = match.lastindex or 1
        behind = next(iter(tokens(message.text[match.end(group) : match.end(group) + 40])), None)
        doing = behind is not None and (
            behind.is_number
            or behind.lower in _OBJECT
            or behind.text[:1].isupper()
            or bool(match[1])
        )
        quoted = message.text[match.end(group) :].lstrip()[:1] in "'\"“‘"
        if verb == stem("order") and _SORTED.search(message.lowered):
            return False
        if verb in _DEEDS - own and verb not in ACTIONS and (doing or quoted):
            return True
    return False
