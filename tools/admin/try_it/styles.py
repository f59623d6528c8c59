"""How the controls of the form look: as those of the theme."""

from __future__ import annotations

from typing import Final

from unfold.widgets import BASE_INPUT_CLASSES, LABEL_CLASSES

_INPUT: Final = " ".join(BASE_INPUT_CLASSES)
CLASSES: Final = {"input": _INPUT, "label": " ".join(LABEL_CLASSES)}
