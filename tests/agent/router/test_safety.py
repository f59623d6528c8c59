"""Nothing is changed that nobody plainly ordered, whatever the tools are called."""

from __future__ import annotations

from collections import Counter

import pytest

from agent.intents.cases import load, recorded_tools
from agent.intents.safety import Risk, called, offer, risks
from agent.router import Choice, Router
from agent.router.message import greeting_end
from agent.router.thesaurus import ACTIONS, WRITING
from agent.router.words import tokens, word_set
from tests.agent.router.catalogue import OTHERS

RISKS = risks()
COURTESIES = word_set("please pls can could would will you u kindly i'd like to")
PLAIN_ORDERS = [
    ("demo", "push todo 11 back to next Monday"),
    ("demo", "set up a task called Quarterly Review and tag it work"),
    ("demo", "delete todo 5"),
    ("demo", "Please delete the todo with the number 5."),
    ("demo", "Hello! Can you delete todo 5? Thanks!"),
    ("demo", "drop #8 from my todos"),
    ("demo", "get rid of task number 33 for good"),
    ("demo", "I don’t need todo 5 any more, delete it"),
    ("demo", "MARK TODO 5 AS DONE"),
    ("demo", "rename todo 5 to 'Remove all but the old fence'"),
    ("demo", "add a todo: ask Bob if the shop is not open"),
    ("demo", "Would you be so good as to mark todo 5 as done?"),
    ("demo", "todo 2 should be active again"),
    ("demo", "I finished todo 5"),
    ("demo", "create a todo to delete todo 5"),
    ("demo", "add milk and bread to my todos"),
    ("demo", "rename todo 5 to 'bread and todo 6'"),
    ("demo", "set the priority of todo 5 to 4 and its due date to tomorrow"),
    ("shop", "refund order ORD-004211"),
    ("shop", "refund ORD-000001 without notifying the customer"),
    ("shop", "close issue 42 as duplicate"),
    ("plant", "reset the database"),
    ("plant", "could you restart server 5?"),
    ("plant", "revoke key 5 please"),
    ("plant", "pay invoice 7"),
    ("demo", "delete todo 5, please"),
    ("demo", "please delete todo number 5, thanks"),
    ("demo", "delete todo: 5"),
    ("demo", "delete to-do item 5"),
    ("demo", "delete todo no. 5"),
    ("demo", "pls del todo 5 asap"),
    ("demo", "hi there, please delete todo 5"),
    ("demo", "would you mind deleting todo 5?"),
    ("demo", "create a todo to buy milk"),
    ("demo", "set the tags of todo 5 to home and work"),
    ("demo", "I finished number 7 on the list"),
    ("demo", "postpone todo 5 until Monday"),
    ("demo", "set todo 5's priority to 3"),
    ("demo", "could you reopen todo 6? I ticked it off by mistake"),
    ("shop", "resolve issue 42"),
    ("shop", "refund ORD-004211, amount 19.90, and notify the customer"),
    ("plant", "cancel the subscription of customer 5"),
    ("plant", "cancel customer 5's subscription"),
    ("office", "reboot"),
    ("office", "please reboot now"),
    ("office", "archive project 5"),
    ("office", "raise the limit of account 5"),
]


# Each wants more than one call, or a call at another time; what is said of it, and what the call has no place for.
MORE_THAN_A_CALL = [
    ("demo", "delete todos 5, 6 and 7", True, ("6", "7")),
    ("demo", "delete 3, 4 and 5", True, ("4", "5")),
    ("demo", "remove 17 and 18", True, ("18",)),
    ("demo", "move todos 5 and 6 to tomorrow", True, ("6",)),
    ("demo", "add milk and delete todo 3", True, ()),
    ("demo", "rename todo 5 to bread and todo 6 to butter", True, ()),
    ("demo", "create a todo milk and mark todo 5 as done", True, ()),
    ("demo", "add two todos: milk and bread", True, ()),
    ("demo", "create 3 todos called tea", True, ()),
    ("demo", "add todos: milk, bread, eggs", True, ()),
    ("plant", "pay invoice 12 twice", True, ()),
    ("plant", "clear the cache and restart server 3", True, ()),
    ("plant", "restart server 3 in 5 minutes", False, ("5 minutes",)),
    ("plant", "restart server 3 tomorrow", False, ("tomorrow",)),
]


@pytest.mark.parametrize("risk", RISKS, ids=lambda risk: risk.say)
async def test_no_change_is_made_without_a_plain_order(risk: Risk) -> None:
    # F2-14
    assert await called(risk) is None


def test_the_requests_are_many_and_over_tools_of_all_kinds() -> None:
    assert len({risk.say for risk in RISKS}) == len(RISKS)
    assert min(Counter(risk.over for risk in RISKS).values()) >= 20
    assert list(offer("shop").tools) == OTHERS


@pytest.mark.parametrize(("over", "say"), PLAIN_ORDERS, ids=[say for _, say in PLAIN_ORDERS])
async def test_plain_orders_are_not_asked_about(over: str, say: str) -> None:
    choice = await Router(offer(over).tools).route(say)
    assert choice is not None
    assert choice.tool in offer(over).changes
    assert (choice.sure, choice.missing, choice.any_of) == (True, (), ())


@pytest.mark.parametrize(("over", "say", "several", "left"), MORE_THAN_A_CALL)
async def test_what_one_call_does_not_do_is_told_before_it_is_made(
    over: str, say: str, several: bool, left: tuple[str, ...]
) -> None:
    # F2-14
    choice = await Router(offer(over).tools).route(say)
    assert choice is not None
    assert (choice.sure, choice.several, choice.left_out) == (False, several, left)


def begins_with_an_order(say: str) -> bool:
    """Whether the first word, after a greeting and a courtesy, is a verb that makes or changes something."""
    words = [one for one in tokens(say[greeting_end(say) :]) if one.lower not in COURTESIES]
    return bool(words) and ACTIONS.get(words[0].stem) in WRITING


async def test_nearly_no_request_that_begins_with_its_order_is_asked_about() -> None:
    """Most such messages are plain orders, so asking about them would be a nuisance.

    What is said around the thing ("I need milk on the list", "that wants to be a task") may be no order,
    and the agent is right to ask; so the share is taken of the messages whose first word is one.
    """
    router = Router(recorded_tools())
    said = [case.say for case in load("development") if begins_with_an_order(case.say)]
    choices = [await router.route(say) for say in said]
    changes = [one for one in choices if one and not one.reads and not one.missing]
    asked = [one for one in changes if not one.sure]
    assert len(changes) >= 60
    assert len(asked) <= len(changes) / 10


async def test_a_message_that_was_not_read_to_its_end_is_asked_about() -> None:
    router = Router(recorded_tools())
    choices = [await router.route("delete todo 5" + " please" * count) for count in (3, 800)]
    assert [choice.sure for choice in choices if choice] == [True, False]


async def test_what_reads_is_never_asked_about() -> None:
    router = Router(recorded_tools())
    choices = [await router.route(case.say) for case in load("development")]
    assert all(one.sure for one in choices if one and one.reads)


async def test_an_update_that_changes_nothing_is_asked_what_to_change() -> None:
    choice = await Router(recorded_tools()).route("rename todo 5")
    assert choice is not None
    assert dict(choice.arguments) == {"todo_id": 5}
    assert "title" in choice.any_of


async def test_a_choice_is_unsafe_until_told_otherwise() -> None:
    choice = Choice("t", {}, (), "", 1.0)
    assert (choice.sure, choice.reads, choice.for_good) == (False, False, True)
