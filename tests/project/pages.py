"""Reading the project's Markdown: tables, sections, links, blocks of code."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
REFERENCE = PROJECT / "docs" / "reference"


def tracked(pattern: str) -> list[Path]:
    """The project's own files of that kind; without git, all but what tools left."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", pattern],  # noqa: S607 - git is wherever it is
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode == 0:
        paths = [PROJECT / line for line in listing.stdout.splitlines()]
    else:
        paths = [path for path in PROJECT.rglob(pattern) if not _foreign(path)]
    return sorted(path for path in paths if path.exists())


def _foreign(path: Path) -> bool:
    parts = path.relative_to(PROJECT).parts
    return any(part.startswith(".") or part in {"var", "node_modules"} for part in parts[:-1])


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    lines = text.splitlines()
    start = lines.index(heading) + 1
    below = []
    fenced = False
    for line in lines[start:]:
        fenced ^= line.startswith("```")
        if not fenced and re.match(rf"#{{1,{level}}} ", line):
            break
        below.append(line)
    return "\n".join(below)


def rows(text: str) -> list[list[str]]:
    """The rows of every table in `text`; headings and the lines below them are left out."""
    lines = text.splitlines()
    below = {number for number, line in enumerate(lines) if re.fullmatch(r"\|[-:|]+\|", line)}
    heading = {number - 1 for number in below}
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for number, line in enumerate(lines)
        if line.startswith("|") and number not in below | heading
    ]


def names(cell: str) -> list[str]:
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def fenced(text: str, language: str) -> list[str]:
    """The blocks of code in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """The targets of all links and pictures outside of code."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", "", prose)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def anchors(text: str) -> set[str]:
    """The fragments that headings can be linked by."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}
