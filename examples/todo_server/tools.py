"""The five tools: how clients see them, and what each does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from examples.todo_server import schema
from examples.todo_server.store import Store
from examples.todo_server.validation import checked
from examples.todo_server.values import Found, Invalid, Todo, Wanted

VERSION: Final = "1.0"
AUTHOR: Final = "MCP control plane"


class NoSuchTodo(Exception):
    """No todo has that id."""

    def __init__(self, todo_id: int) -> None:
        super().__init__(
            f"There is no todo with id {todo_id}. list_todos and search_todos give the ids there are."
        )


Run = Callable[[Store, Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class TodoTool:
    """One tool."""

    name: str
    title: str
    description: str
    takes: schema.Schema
    gives: schema.Schema
    run: Run
    action: str
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False

    def call(self, store: Store, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Check the arguments, then do it; raises Invalid, NoSuchTodo or Unavailable."""
        return self.run(store, checked(self.takes, arguments))

    def to_wire(self) -> dict[str, Any]:
        """The tool as a list of tools has it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.takes,
            "outputSchema": self.gives,
            "annotations": {
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.idempotent,
                "openWorldHint": False,
            },
            "_meta": {"tags": ["crud", self.action], "version": VERSION, "author": AUTHOR},
        }


def _create(store: Store, given: Mapping[str, Any]) -> dict[str, Any]:
    return store.create(given).to_wire()


def _list(store: Store, given: Mapping[str, Any]) -> dict[str, Any]:
    names = {"due_date_before": "due_before", "due_date_after": "due_after"}
    wanted = Wanted(**{names.get(name, name): value for name, value in given.items()})
    return _found(store.find(wanted))


def _update(store: Store, given: Mapping[str, Any]) -> dict[str, Any]:
    changes = {name: value for name, value in given.items() if name != "todo_id"}
    if not changes:
        raise Invalid("Name at least one field to change beside todo_id.")
    return _there(store.update(given["todo_id"], changes), given["todo_id"]).to_wire()


def _search(store: Store, given: Mapping[str, Any]) -> dict[str, Any]:
    others = {name: value for name, value in given.items() if name != "query"}
    return _found(store.find(Wanted(words=given["query"], **others)))


def _delete(store: Store, given: Mapping[str, Any]) -> dict[str, Any]:
    gone = _there(store.delete(given["todo_id"]), given["todo_id"])
    message = f"Todo {gone.id} “{gone.title}” was deleted for good."
    return {"id": gone.id, "title": gone.title, "deleted": True, "message": message}


def _found(found: Found) -> dict[str, Any]:
    return {"total": found.total, "todos": [todo.to_wire() for todo in found.todos]}


def _there(todo: Todo | None, todo_id: int) -> Todo:
    if todo is None:
        raise NoSuchTodo(todo_id)
    return todo


_DEFINED: Final = (
    TodoTool(
        name="create_todo",
        title="Create a todo",
        description=(
            "Creates a new todo item with title, optional description, priority, tags, and due date. "
            "Gives back the item with its id; its status is active."
        ),
        takes=schema.CREATE,
        gives=schema.TODO,
        run=_create,
        action="create",
    ),
    TodoTool(
        name="list_todos",
        title="List todos",
        description=(
            "Lists todos filtered by status, priority, tags, or due date. "
            "Without a status it lists the active ones. The most urgent come first, 500 at most; "
            "`total` says how many there are."
        ),
        takes=schema.LIST,
        gives=schema.TODOS,
        run=_list,
        action="read",
        read_only=True,
        idempotent=True,
    ),
    TodoTool(
        name="update_todo",
        title="Update a todo",
        description=(
            "Updates an existing todo's fields by ID. Fields that are not named stay as they are. "
            "To finish a todo without losing it, set its status to completed."
        ),
        takes=schema.UPDATE,
        gives=schema.TODO,
        run=_update,
        action="update",
        idempotent=True,
    ),
    TodoTool(
        name="search_todos",
        title="Search todos",
        description=(
            "Searches todos by keyword in title or description. "
            "Without a status it searches the active ones."
        ),
        takes=schema.SEARCH,
        gives=schema.TODOS,
        run=_search,
        action="search",
        read_only=True,
        idempotent=True,
    ),
    TodoTool(
        name="delete_todo",
        title="Delete a todo",
        description=(
            "Deletes a todo by ID. It cannot be brought back; update_todo with status completed "
            "or archived takes it off the list and keeps it."
        ),
        takes=schema.DELETE,
        gives=schema.DELETED,
        run=_delete,
        action="delete",
        destructive=True,
    ),
)
TOOLS: Final[Mapping[str, TodoTool]] = {tool.name: tool for tool in _DEFINED}
