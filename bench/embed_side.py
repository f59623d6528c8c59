"""One side of bench/embed.py, in a process of its own: `embed_side.py SIDE THREADS MODEL_FOLDER FILE`.

It runs in an environment without the project's packages too, so it imports what it measures only.
"""

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TEXT = (
    "the archive keeps letters from the harbour office and lists every ship that entered between "
    "spring and autumn with its cargo its master and the duty paid on tea salt timber and wool "
    "clerks wrote corrections in the margin when a barrel was short or a name was spelt twice"
)
WORDS = TEXT.split()
TEXTS = 128
TEXT_WORDS = 190
QUERIES = 40
VARIED = [
    "",
    "ship it",
    "What will the weather be like in Lisbon this weekend?",
    "Überweise 250 € an Anna Müller; naïve façade, 東京, привет, 🚀",
    "SELECT count(*) FROM orders WHERE status = 'open' AND total > 1e3;",
    "  leading and trailing blanks,\ttabs\nand lines  ",
    "UPPER CASE and lower case and MiXeD cAsE",
    "a " * 1000,
    "https://example.org/path?query=1&other=%20#part <b>markup</b> [SEP] [MASK]",
    "".join(chr(code) for code in range(0x20, 0x17F)),
]


def main() -> None:
    side, threads, folder, target = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    load = {"onnx": load_onnx, "torch": load_torch}[side]
    print(json.dumps(measure(load, threads, folder, target)))


def measure(
    load: Callable[[int, str], Callable[[Sequence[str]], Any]],
    threads: int,
    folder: str,
    target: str,
) -> dict[str, float]:
    began, used = time.perf_counter(), time.process_time()
    embed = load(threads, folder)
    embed(["first"])
    loaded, load_used = time.perf_counter() - began, time.process_time() - used
    texts = [" ".join(rotated(number)[:TEXT_WORDS]) for number in range(TEXTS)]
    embed(texts[:16])
    began, used = time.perf_counter(), time.process_time()
    embed(texts)
    wall, processor = time.perf_counter() - began, time.process_time() - used
    import numpy as np

    np.save(target, np.asarray(embed(VARIED + texts[:6]), dtype=np.float32))
    queries = [single(embed, number) for number in range(QUERIES)]
    return {
        "load_s": loaded,
        "processor_load_s": load_used,
        "throughput": TEXTS / wall,
        "processor_throughput": TEXTS / processor,
        "latency_ms": statistics.median(wall for wall, _ in queries) * 1e3,
        "processor_latency_ms": statistics.median(used for _, used in queries) * 1e3,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def single(embed: Callable[[Sequence[str]], Any], number: int) -> tuple[float, float]:
    """Seconds for one query of twelve words: by the clock, and of processor time."""
    query = " ".join(rotated(number)[:12])
    began, used = time.perf_counter(), time.process_time()
    embed([query])
    return time.perf_counter() - began, time.process_time() - used


def rotated(number: int) -> list[str]:
    """Words enough for a text, in another order for each number."""
    start = number * 7 % len(WORDS)
    return (WORDS[start:] + WORDS[:start]) * (TEXT_WORDS // len(WORDS) + 1)


def load_onnx(threads: int, folder: str) -> Callable[[Sequence[str]], Any]:
    from tools.pipelines.blocks.minilm import MiniLm

    return MiniLm.load(threads=threads).embed


def load_torch(threads: int, folder: str) -> Callable[[Sequence[str]], Any]:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    model = SentenceTransformer(str(Path(folder)), device="cpu")
    model.max_seq_length = 256
    return lambda texts: model.encode(
        list(texts), batch_size=32, normalize_embeddings=True, show_progress_bar=False
    )


if __name__ == "__main__":
    main()
