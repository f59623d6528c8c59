"""What it costs to bring an answer below its token budget, and how the cost grows with its size.

Run with `python -m bench.budget`. Times are the best of several rounds in one process: compare them
with each other, not with those of another machine. Growth is how much longer a token takes than in
the size before: 1 is linear, below it better.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from tools.context.reduce import reduce
from tools.context.rules import Rules
from tools.context.tokens import count, count_json

BUDGET: Final = 2000
SIZES: Final = (5_000, 50_000, 500_000)
ROUNDS: Final = 5
NOTE: Final = "Grazes on the northern pasture and was seen by the vet in spring. "

Maker = Callable[[int], Any]


def record(number: int) -> dict[str, Any]:
    return {
        "LpnId": f"6401492020FLE{number:06d}",
        "born": "2024-02-13",
        "traits": {"BWT": number * 37 % 97 / 100, "WWT": 1.21, "FAT": -0.05},
        "notes": NOTE * (1 + number % 7),
    }


def records(number: int) -> Any:
    """A list of like objects, as most APIs answer."""
    return {"recordCount": number, "records": [record(n) for n in range(number)]}


def by_key(number: int) -> Any:
    """One object with many small entries."""
    return {f"sensor{n}": n / 7 for n in range(number)}


def tree(number: int) -> Any:
    """Objects in objects, four to each."""
    if number <= 1:
        return {"id": number, "notes": NOTE}
    return {f"part{n}": tree((number + n) // 4) for n in range(4)}


def text(number: int) -> Any:
    """One long text."""
    return {"title": "Report", "body": NOTE * number}


RULES: Final = Rules.from_json(
    {
        "drop": ["notes"],
        "top": [{"path": "records", "by": "traits.BWT", "count": 50, "floor": 0.5}],
        "keep": ["$.recordCount"],
    }
)
CASES: Final[tuple[tuple[str, Maker, Rules, tuple[str, ...]], ...]] = (
    ("records", records, Rules(), ()),
    ("many keys", by_key, Rules(), ()),
    ("tree", tree, Rules(), ()),
    ("text", text, Rules(), ()),
    ("records, each LpnId preserved", records, Rules(), ("LpnId",)),
    ("records, rules drop and top", records, RULES, ()),
)


def main() -> None:
    count_json("the vocabulary is loaded")
    print("counting")
    for size in SIZES:
        encoded = json.dumps(sized(records, size))
        tokens = count(encoded)
        took = best(partial(count, encoded))
        print(f"  {tokens:>7} tokens  {took / tokens * 2000 * 1000:6.2f} ms per 2,000 tokens")
    for name, make, rules, preserve in CASES:
        print(name)
        before = 0.0
        for size in SIZES:
            before = shortened(sized(make, size), rules, preserve, before)


def shortened(value: Any, rules: Rules, preserve: tuple[str, ...], before: float) -> float:
    """Print what one size costs, and give what a token of it does; `before` is that of a smaller."""
    tokens = count_json(value)
    work = partial(reduce, value, tokens=tokens, budget=BUDGET, rules=rules, preserve=preserve)
    result = work()
    assert result is not None
    took = best(work)
    growth = f"  growth {took / tokens / before:4.2f}" if before else ""
    print(f"  {tokens:>7} tokens  {took * 1e6:>9.0f} µs  to {result.tokens:>6}{growth}")
    return took / tokens


def sized(make: Maker, tokens: int) -> Any:
    """An answer of about this many tokens."""
    number = 4
    while (found := count_json(make(number))) < tokens * 0.9:
        number = max(number + 1, int(number * min(tokens / found, 64)))
    return make(number)


def best(work: Callable[[], Any]) -> float:
    """Seconds of the fastest round."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - began)
    return fastest


if __name__ == "__main__":
    main()
