"""What a message asks for, by itself or as the answer to what was asked back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent.replies import (
    Asked,
    agreed,
    agrees,
    behind_yes,
    dismisses,
    doubted,
    drops,
    field_in,
    filled,
    hesitates,
    number_in,
    orders_it,
)
from agent.routing import Choice, Routes


class Answers:
    """Picks what is to be called. `schema` gives the input schema of a tool."""

    def __init__(self, routes: Routes, schema: Callable[[str], Mapping[str, Any]]) -> None:
        self._routes = routes
        self._schema = schema

    async def choice(self, message: str, asked: Asked | None) -> Choice | None:
        """What is to be called or asked back about; None where nothing fits."""
        if asked is None:
            return await self._routes.route(message)
        if asked.only_whether:
            return await self._whether(message, asked.choice)
        return await self._field(message, asked) or await self._more(message, asked)

    async def _more(self, message: str, asked: Asked) -> Choice | None:
        """The choice with what it lacked, or another that the message asks for."""
        alone = await self._routes.route(message)
        if self._lacks(asked.choice, "string"):
            return await self._text(message, asked, alone)
        if drops(message) or _is_another(alone, asked.choice):
            return alone
        if not asked.choice.reads and self._lacks(asked.choice, "integer", "number"):
            return await self._number(message, asked, alone)
        return await self._together(message, asked) or alone or await self._aim(message, asked)

    def drop(self, message: str, asked: Asked) -> bool:
        """Whether no answer to what was asked is an answer too: it is to be left."""
        numbered = not asked.choice.reads and self._lacks(asked.choice, "integer", "number")
        texted = not asked.choice.reads and self._lacks(asked.choice, "string")
        return drops(message) or dismisses(message) or asked.only_whether or numbered or texted

    async def _field(self, message: str, asked: Asked) -> Choice | None:
        """The choice with the field that an answer names, where any of them was asked for."""
        choice = asked.choice
        if choice.missing or not (field := field_in(message, choice.tool, choice.any_of)):
            return None
        return await self._whole(f"{asked.message}, {field}", asked)

    async def _aim(self, message: str, asked: Asked) -> Choice | None:
        """The choice with a reply that nothing else fits as what the order was without: "rename todo 5"."""
        if asked.choice.missing or "?" in message or dismisses(message) or hesitates(message):
            return None
        found = await self._whole(f"{asked.message} to {message.strip()}", asked)
        return doubted(found) if found else None

    async def _whether(self, message: str, choice: Choice) -> Choice | None:
        """The choice after a yes, which may say once more what is to be done."""
        rest = behind_yes(message)
        if agrees(message) or orders_it(rest, choice.tool):
            return agreed(choice)
        again = await self._routes.route(rest)
        if again and again.sure and _call(again) == _call(choice):
            return agreed(choice)
        return await self._routes.route(message)

    async def _text(self, message: str, asked: Asked, alone: Choice | None) -> Choice | None:
        """The choice with the one text that it lacked; what may be meant otherwise is asked about."""
        choice = asked.choice
        if agrees(message) or not message.strip():
            return choice
        asks = "?" in message and not choice.reads
        if asks or dismisses(message) or _is_another(alone, choice):
            return alone
        if not self._allows(choice, message.strip()):
            return await self._together(message, asked) or alone or choice
        if hesitates(message):
            return alone or filled(choice, message.strip(), sure=choice.reads)
        kept = choice.reads or (choice.sure and not choice.for_good)
        return await self._together(message, asked) or filled(choice, message.strip(), sure=kept)

    async def _number(self, message: str, asked: Asked, alone: Choice | None) -> Choice | None:
        """The choice with its number. None is taken out of a sentence: "not 7", "all 7".

        Whoever was in doubt before is still, so the first message decides whether the call is asked about.
        """
        choice = asked.choice
        number = number_in(message, choice.tool, choice.missing[0])
        if number is not None:
            fits = self._allows(choice, number)
            return filled(choice, number, sure=choice.sure) if fits else choice
        together = await self._together(message, asked)
        return together if together and together.sure else alone

    async def _together(self, message: str, asked: Asked) -> Choice | None:
        """What both messages ask for as one, where that is what was picked, made whole."""
        return await self._whole(f"{asked.message} {message}", asked)

    async def _whole(self, message: str, asked: Asked) -> Choice | None:
        found = await self._routes.route(message)
        whole = found and found.tool == asked.choice.tool and not (found.missing or found.any_of)
        return found if whole else None

    def _lacks(self, choice: Choice, *types: str) -> bool:
        """Whether the one thing that a choice lacks is of such a type."""
        if len(choice.missing) != 1:
            return False
        return property_of(self._schema(choice.tool), choice.missing[0]).get("type") in types

    def _allows(self, choice: Choice, value: str | int) -> bool:
        """Whether the schema takes a value as what is lacking."""
        # Only here: the agent works with a model alone, too.
        from agent.router.parameters import parameters

        named = (
            one for one in parameters(self._schema(choice.tool)) if one.name == choice.missing[0]
        )
        return all(one.allows(value) and (not one.choices or value in one.choices) for one in named)


def property_of(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What a schema says of an argument; it may be just `true`."""
    properties = schema.get("properties")
    found = properties.get(name) if isinstance(properties, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _is_another(alone: Choice | None, choice: Choice) -> bool:
    """Whether a message is for another tool, and tells all of it."""
    return alone is not None and alone.tool != choice.tool and not alone.missing


def _call(choice: Choice) -> tuple[Any, ...]:
    return choice.tool, dict(choice.arguments), choice.missing, choice.any_of
