"""A new tool that begins as a copy of another."""

from __future__ import annotations

from typing import Any, Final

from django.forms.models import model_to_dict

from tools.models import Tool

# Under so long a name there is room for what marks it as a copy.
LONGEST_NAME: Final = 59
# A copy is looked at before anybody can call it.
OFF: Final = {"enabled": False}


def values_to_clone(number: str) -> dict[str, Any]:
    """What the form is filled in with; nothing when there is no such tool."""
    tool = Tool.objects.filter(pk=number).first() if number.isdecimal() else None
    if tool is None:
        return {}
    return {**model_to_dict(tool), **OFF, "name": f"{tool.name[:LONGEST_NAME]}_copy"}
