"""A small OpenAI-compatible API on a real port, with faults on command.

It answers chat completions (streamed and not), embeddings and rerankings, keeps what it was asked,
and sees when a client hangs up. `behave` queues faults, one for each coming request; `always` holds
until it is taken back.
"""

from __future__ import annotations

import hashlib
import json
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

if TYPE_CHECKING:
    from tools.conf import Endpoint

KEY: Final = "sk-test-0123456789abcdef0123"
DIMENSIONS: Final = 8
# The name of a tool and its arguments; a text is sent as it is.
Called = tuple[str, Mapping[str, Any] | str]


@dataclass(frozen=True)
class Fault:
    """How a request goes wrong.

    `status` with `error` as its body; `hang` before the answer, or `pause` before each event, until
    the client leaves; `cut` after that many events; `garbage` instead of the answer, or as an event of
    the stream when `cut` says after which; `drop` the connection without a word.
    """

    status: int = 200
    error: Mapping[str, Any] | None = None
    hang: bool = False
    pause: float = 0.0
    cut: int | None = None
    garbage: bytes = b""
    drop: bool = False


@dataclass
class OpenAiServer:
    """The API at `url`. `text` is what chats answer, in pieces as given."""

    text: Sequence[str] = ("Rush is a Canadian", " rock band [1].")
    # Instead of `text`: the deltas of a streamed chat, made from what was asked.
    script: Callable[[Mapping[str, Any]], Sequence[Mapping[str, Any]]] | None = None
    finish_reason: str = "stop"
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 70, "completion_tokens": 9, "total_tokens": 79}
    )
    streams: bool = True
    ends_with_done: bool = True
    dimensions: int = DIMENSIONS
    always: Fault | None = None
    # What a chat calls instead of answering: names of tools with their arguments.
    calls: Callable[[dict[str, Any]], Sequence[Called]] = lambda sent: ()
    # Replaces the body of an embeddings or rerank answer.
    change: Callable[[dict[str, Any]], Any] = lambda body: body
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    connections: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event)
    under_way: threading.Event = field(default_factory=threading.Event)
    sent_events: int = 0

    def __post_init__(self) -> None:
        self._faults: deque[Fault | None] = deque()
        self._stopping = threading.Event()
        self._server = _Listener(self)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def endpoint(self) -> Endpoint:
        # Here, because programs without the control plane's packages use this server too.
        from tools.conf import Endpoint

        return Endpoint(self.url, KEY)

    def behave(self, *faults: Fault | None) -> None:
        """How the coming requests go, one after the other; None is well."""
        self._faults.extend(faults)

    def next_fault(self) -> Fault:
        return (self._faults.popleft() if self._faults else self.always) or Fault()

    def stop(self) -> None:
        """Go down; requests under way are let go."""
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def wait(self, seconds: float, client: Any) -> bool:
        """Wait, or until the client has hung up: whether it is still there."""
        limit = time.monotonic() + seconds
        while not self._stopping.is_set():
            left = limit - time.monotonic()
            if left <= 0:
                return True
            readable, _, _ = select.select([client], [], [], min(left, 0.02))
            # A client says nothing while it waits: what can be read is its end.
            if readable:
                self.hung_up.set()
                return False
        return False


@contextmanager
def openai_server(**settings: Any) -> Iterator[OpenAiServer]:
    """A running API; gone afterwards."""
    server = OpenAiServer(**settings)
    try:
        yield server
    finally:
        server.stop()


class _Listener(ThreadingHTTPServer):
    """The listening part; `api` is what it serves."""

    daemon_threads = True

    def __init__(self, api: OpenAiServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = api


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def api(self) -> OpenAiServer:
        assert isinstance(self.server, _Listener)
        return self.server.api

    @override
    def setup(self) -> None:
        super().setup()
        self.api.connections += 1

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.api.requests.append((self.path, sent))
        self.api.headers.append({name.lower(): value for name, value in self.headers.items()})
        fault = self.api.next_fault()
        self.api.under_way.set()
        if fault.drop or (fault.hang and not self.api.wait(30, self.connection)):
            self.close_connection = True
            return
        if fault.status != 200:
            self.reply(json.dumps({"error": fault.error or {"message": "no"}}), fault.status)
        elif fault.garbage and fault.cut is None:
            self.reply(fault.garbage)
        elif self.path == "/v1/chat/completions" and sent.get("stream") and self.api.streams:
            self.stream(fault, sent)
        else:
            self.reply(json.dumps(self.body(sent)))

    def body(self, sent: dict[str, Any]) -> Any:
        if self.path == "/v1/chat/completions":
            return completion(self.api, sent)
        if self.path == "/v1/embeddings":
            rows = [
                {"index": place, "embedding": vector(text, self.api.dimensions)}
                for place, text in enumerate(sent["input"])
            ]
            return self.api.change({"data": rows[::-1], "model": sent["model"]})
        found = [
            {"index": place, "relevance_score": shared(sent["query"], text)}
            for place, text in enumerate(sent["documents"])
        ]
        best_first = sorted(found, key=lambda row: -row["relevance_score"])
        return self.api.change({"results": best_first})

    def reply(self, body: str | bytes, status: int = 200) -> None:
        encoded = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def stream(self, fault: Fault, sent: Mapping[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events(self.api, sent)):
            if fault.pause and not self.api.wait(fault.pause, self.connection):
                self.close_connection = True
                return
            if number == fault.cut:
                if fault.garbage:
                    self.chunk(b"data: " + fault.garbage + b"\n\n")
                    self.chunk(b"")
                self.close_connection = True
                return
            try:
                self.chunk(event)
            except OSError:
                self.api.hung_up.set()
                self.close_connection = True
                return
            self.api.sent_events += 1
        self.chunk(b"")

    def chunk(self, data: bytes) -> None:
        # In two writes, in the middle of whatever it is: clients must put it together.
        encoded = b"%x\r\n%s\r\n" % (len(data), data)
        middle = len(encoded) // 2
        self.wfile.write(encoded[:middle])
        self.wfile.flush()
        self.wfile.write(encoded[middle:])

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def completion(server: OpenAiServer, sent: dict[str, Any]) -> dict[str, Any]:
    """A chat completion: the text, or the tools that are to be called."""
    message: dict[str, Any] = {"role": "assistant", "content": "".join(server.text)}
    finish_reason = server.finish_reason
    calls = server.calls(sent)
    if calls:
        message = {"role": "assistant", "content": None, "tool_calls": called(calls)}
        finish_reason = "tool_calls"
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    about = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0}
    return {**about, "model": sent["model"], "choices": [choice], "usage": server.usage}


def called(calls: Sequence[Called]) -> list[dict[str, Any]]:
    """Calls of tools as a message has them."""
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for number, (name, arguments) in enumerate(calls)
    ]


def events(server: OpenAiServer, sent: Mapping[str, Any]) -> Iterator[bytes]:
    """A stream of events as OpenAI sends it."""
    pieces = [{"content": piece} for piece in server.text]
    deltas = pieces if server.script is None else server.script(sent)
    yield b": a comment keeps the connection alive\n\n"
    yield event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
    for delta in deltas:
        yield event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    calling = any("tool_calls" in delta for delta in deltas)
    reason = "tool_calls" if calling else server.finish_reason
    if reason:
        yield event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if server.usage is not None:
        yield event({"choices": [], "usage": server.usage})
    if server.ends_with_done:
        yield b"data: [DONE]\n\n"


def event(value: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\r\n\r\n".encode()


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector of its own for each text, of no particular length."""
    digest = hashlib.sha256(text.encode()).digest()
    return [digest[place % 32] / 16 + 1 for place in range(dimensions)]


def shared(query: str, document: str) -> float:
    """The share of the query's words that the document has."""
    asked = set(query.lower().split())
    return len(asked & set(document.lower().split())) / len(asked)
