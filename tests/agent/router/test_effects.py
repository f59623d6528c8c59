"""What a tool does to the world, by its verb and by what its server says."""

from __future__ import annotations

import pytest

from agent.router import Offered
from agent.router.effects import Effect
from agent.router.profile import Catalogue

NOTHING = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("name", "description", "hints", "effect"),
    [
        ("get_order", "Gives an order.", {}, Effect.READS),
        ("orders", "Lists orders.", {}, Effect.READS),
        ("server_metrics", "Figures of the service.", {"read_only": True}, Effect.READS),
        ("server_metrics", "Figures of the service.", {}, Effect.ACTS),
        ("get_last_update", "Get the day of the last update.", {}, Effect.READS),
        ("weather", "Current weather for a city.", {}, Effect.READS),
        ("weather", "Returns the weather of a city: temperature, rain.", {}, Effect.READS),
        ("weather", "Look up the weather.", {}, Effect.READS),
        ("exchange_rate", "The exchange rate between two currencies.", {}, Effect.READS),
        ("exchangeRate", "Return the latest exchange rate information.", {}, Effect.READS),
        # A noun that may be a deed, a description that tells of one, or none that tells what is given.
        ("weather", "", {}, Effect.ACTS),
        ("weather", "Current weather for a city.", {"destructive": True}, Effect.ACTS),
        ("weather", "Weather for a city. Sends it to all subscribers.", {}, Effect.ACTS),
        ("exchange_rate", "Fixes the exchange rate of an order.", {}, Effect.ACTS),
        ("exchange_rate", "The exchange rate is set to a new value.", {}, Effect.ACTS),
        ("metrics", "Flushes the metrics of a server.", {}, Effect.ACTS),
        ("migrate_data", "Migrate data from one server to another.", {}, Effect.ACTS),
        ("rate", "Rate and review a product.", {}, Effect.ACTS),
        ("rate", "Rate a product.", {}, Effect.ACTS),
        ("reset_status", "Reset status of a server.", {}, Effect.ACTS),
        ("refund", "Refund for an order.", {}, Effect.ACTS),
        ("refund", "Returns the refund to the customer.", {}, Effect.ACTS),
        ("restart", "Restart of a server.", {}, Effect.ACTS),
        ("add_order", "Adds an order.", {}, Effect.WRITES),
        ("close_issue", "Closes an issue.", {}, Effect.WRITES),
        ("delete_order", "Deletes an order.", {}, Effect.DESTROYS),
        # A server that calls this harmless is wrong.
        ("delete_order", "Deletes an order.", {"read_only": True}, Effect.DESTROYS),
        ("restart_server", "Restarts a server.", {}, Effect.ACTS),
        ("refund_order", "Gives the customer the money back.", {}, Effect.ACTS),
        ("reset_view", "Resets the view.", {}, Effect.ACTS),
        ("clear_list", "Clears the list.", {}, Effect.ACTS),
        ("check_out_order", "Checks out an order.", {}, Effect.ACTS),
        ("get_messages", "Gets messages and marks them read.", {"destructive": True}, Effect.ACTS),
        # A reading verb leads, and more is done.
        ("get_messages", "Gets messages and marks them read.", {}, Effect.ACTS),
        ("get_or_create_user", "Gets a user.", {}, Effect.ACTS),
        ("find_and_replace", "Finds a word.", {}, Effect.ACTS),
        ("validate_and_submit_order", "Validates an order.", {}, Effect.ACTS),
        ("get_user", "Finds a user or creates one.", {}, Effect.ACTS),
        ("list_item", "Lists an item for sale.", {}, Effect.ACTS),
        ("execute_sql", "Query the database with any statement.", {}, Effect.ACTS),
        ("run_sql", "Query the database with any statement.", {}, Effect.ACTS),
        ("read_and_delete_message", "Reads a message.", {"read_only": True}, Effect.DESTROYS),
        ("locate_and_wipe_device", "Locates a device.", {"read_only": True}, Effect.DESTROYS),
        ("find_and_replace", "Finds a word.", {"read_only": True}, Effect.READS),
        # Nouns and participles are no deeds.
        ("list_orders", "Lists orders and refunds of a customer.", {}, Effect.READS),
        ("list_items", "Lists an account's items.", {}, Effect.READS),
        ("list_deleted_todos", "Lists todos that were deleted.", {}, Effect.READS),
        ("search_notes", "Searches notes and tags.", {}, Effect.READS),
        ("list_transfers", "List transfers and charges of an account.", {}, Effect.READS),
        ("order_history", "Lists what was ordered.", {}, Effect.READS),
        ("get_run", "Gets a run: its start, its stop and its log.", {}, Effect.READS),
    ],
)
def test_what_is_not_known_to_read_is_no_reading(
    name: str, description: str, hints: dict[str, bool], effect: Effect
) -> None:
    (profile,) = Catalogue([Offered(name, description, NOTHING, **hints)]).profiles
    assert profile.effect is effect
