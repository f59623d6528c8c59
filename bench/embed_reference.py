"""Make the reference vectors of the tests anew: what sentence-transformers gives for their sentences.

Run with `python -m bench.embed_reference`. It needs the environment of bench/embed.py, and makes it.
"""

from __future__ import annotations

import base64
import json
import subprocess
from typing import Final

import numpy as np

from bench.embed import MODEL, PROJECT, original_python, site_packages

REFERENCE: Final = PROJECT / "tests" / "tools" / "pipelines" / "blocks" / "minilm_reference.json"
PROGRAM: Final = """
import json, sys
import sentence_transformers, torch
model = sentence_transformers.SentenceTransformer(sys.argv[1], device="cpu")
model.max_seq_length = 256
vectors = model.encode(json.load(sys.stdin), normalize_embeddings=True, show_progress_bar=False)
versions = sentence_transformers.__version__, torch.__version__.partition("+")[0]
print(json.dumps({"versions": versions, "vectors": vectors.tolist()}))
"""


def main() -> None:
    reference = json.loads(REFERENCE.read_text("utf-8"))
    done = subprocess.run(
        [str(original_python()), "-c", PROGRAM, str(site_packages() / MODEL / "model")],
        input=json.dumps(reference["sentences"]),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    package, torch = found["versions"]
    reference["made_with"] = f"sentence-transformers {package} on torch {torch}, float32"
    reference["vectors"] = [
        base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()
        for vector in found["vectors"]
    ]
    REFERENCE.write_text(json.dumps(reference, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
