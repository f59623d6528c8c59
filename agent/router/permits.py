"""Whether a message leaves open that a tool is wanted, before it is asked how well the two fit."""

from __future__ import annotations

from typing import Final

from agent.router.doubts import leaves_some_out, takes_a_part
from agent.router.effects import Effect
from agent.router.message import Message
from agent.router.profile import Profile
from agent.router.thesaurus import ACTIONS, Action, meanings
from agent.router.words import name_parts, stem

# In a name these say which one of a thing; alone they are about nothing.
_QUALIFYING: Final = frozenset({"last", "first", "next", "all", "by", "full", "current", "latest"})


def connected(profile: Profile, message: Message) -> bool:
    """Whether a message is about what the tool is about."""
    return bool(telling_name(profile) & message.meanings)


def may(profile: Profile, message: Message) -> bool:
    """Whether the message leaves open that the tool is wanted; to delete, it has to be said."""
    if profile.effect is Effect.ACTS and not _may_act(profile, message):
        return False
    if profile.action is Action.DELETE and Action.DELETE not in message.actions:
        return False
    if profile.effect is Effect.WRITES and not _says_its_verb(profile, message):
        return False
    makes = profile.action is Action.CREATE and message.action is not Action.DELETE
    harmless = makes or profile.effect is Effect.READS
    if not harmless and (takes_a_part(profile, message) or leaves_some_out(message)):
        return False
    return profile.action not in message.refused


def _may_act(profile: Profile, message: Message) -> bool:
    """A tool of an unknown verb is not for whoever denies that verb or only asks about it.

    Nor is it for any question, where the verb is no guess: "is the database up to date?" resets none.
    """
    if profile.verbs & message.denied:
        return False
    said = any(token.stem in profile.verbs for token in message.tokens)
    return not (message.only_asks and (said or profile.tells_verb))


def _says_its_verb(profile: Profile, message: Message) -> bool:
    """Whether the message has the verb of an update, or one that means the same: reopening closes nothing."""
    if profile.action is not Action.UPDATE or profile.is_general_update:
        return True
    verbs = {meaning for verb in profile.verbs for meaning in meanings(verb)}
    return any(verbs & set(meanings(token.stem)) for token in message.tokens)


def only_asked_how(profile: Profile, message: Message) -> bool:
    """Whether a message asks how to do what the tool does; neither it nor documents tell that."""
    return (
        message.asks_how
        and not message.from_documents
        and profile.action in message.refused
        and profile.action in message.actions
        and connected(profile, message)
    )


def telling_name(profile: Profile) -> set[str]:
    """The words of a name that say what the tool is about."""
    return {stem(part) for part in name_parts(profile.name)} - set(ACTIONS) - _QUALIFYING
