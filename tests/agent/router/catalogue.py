"""Tools of another world than the demo's: an issue tracker, a calendar, a weather service, a shop."""

from __future__ import annotations

from typing import Any

from agent.router import Offered


def tool(name: str, description: str, *required: str, **properties: Any) -> Offered:
    """A tool that takes these."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Offered(name, description, schema)


def text(description: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def number(description: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "integer", "description": description, **more}


ISSUE = number("Number of the issue.", minimum=1)
OTHERS = [
    tool(
        "create_issue",
        "Opens a new issue in a repository.",
        "title",
        title=text("One line that says what is wrong.", maxLength=200),
        body=text("All there is to say about it."),
        labels={
            "type": "array",
            "items": {"type": "string"},
            "description": "Labels of the issue.",
        },
        severity=text("How bad it is.", enum=["low", "medium", "high", "critical"]),
    ),
    tool(
        "close_issue",
        "Closes an issue.",
        "issue_number",
        issue_number=ISSUE,
        reason=text("Why.", enum=["completed", "duplicate", "not_planned"]),
    ),
    tool(
        "search_issues",
        "Finds issues by words in their title or body.",
        "query",
        query=text("Words to look for."),
        state=text("", enum=["open", "closed", "all"], default="open"),
    ),
    tool(
        "list_notes",
        "Lists notes, the newest first.",
        topics={
            "type": "array",
            "items": {"type": "string"},
            "description": "Topics of the notes.",
        },
        stars=number("How good they are.", minimum=1, maximum=5),
    ),
    tool(
        "ask_handbook",
        "Answers a question from the documents of the company, with the passages it is based on.",
        "question",
        question=text("The question."),
    ),
    tool(
        "listEvents",
        "Lists the events of the calendar between two days.",
        start_date=text("First day.", format="date"),
        end_date=text("Last day.", format="date"),
    ),
    tool(
        "get-weather-forecast",
        "Weather forecast for a city: temperature, rain and wind.",
        "city",
        city=text("Name of the city."),
        days=number("How many days ahead.", minimum=1, maximum=14, default=3),
        units=text("", enum=["metric", "imperial"], default="metric"),
    ),
    tool(
        "get_order",
        "Gives an order of the shop with its items and where it is now.",
        "order_id",
        order_id=text("Id of the order.", pattern="^ORD-[0-9]{6}$", examples=["ORD-000123"]),
    ),
    tool(
        "refund_order",
        "Refunds an order of the shop, as a whole or in part.",
        "order_id",
        order_id=text("Id of the order.", pattern="^ORD-[0-9]{6}$", examples=["ORD-000123"]),
        amount={"type": "number", "exclusiveMinimum": 0, "description": "How much, in euros."},
        notify_customer={"type": "boolean", "description": "Also tell the customer."},
    ),
]
