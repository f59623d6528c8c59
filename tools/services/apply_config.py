"""Service configuration as a YAML document: read it, put it into the database, get it back out."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Final

import yaml
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction
from typing_extensions import override

from tools.conf import (
    KEYS,
    ConfigurationFault,
    ServiceSettings,
    deployment,
    parse_document,
    to_document,
)
from tools.models import ServiceConfiguration
from tools.services.audit.acting import doing
from tools.services.tool_exchange import (
    DEEPEST,
    OWNED,
    TOOLS,
    Plan,
    State,
    carry_out,
    check_size,
    holds_tools,
    plan_tools,
    refuse,
)


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """What applying a document did, or would do: a new service, or the keys that changed."""

    name: str
    created: bool
    changed: list[str] = field(default_factory=list)
    tools: Plan | None = None


class _Dumper(yaml.CSafeDumper):
    """Quotes texts with line ends of Unicode, which YAML would otherwise read as spaces."""

    @override
    def ignore_aliases(self, data: Any) -> bool:
        # What is written twice is easier to read than what is named.
        return True


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    odd = any(character in text for character in "\x85\u2028\u2029")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if odd else None)


_Dumper.add_representer(str, _text)


_MERGE: Final = "tag:yaml.org,2002:merge"


class _Loader(yaml.CSafeLoader):
    """Plain values only, and a key written twice is a fault instead of a silent loss."""

    @override
    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        for key, _ in node.value:
            # Merges of merges multiply while they are read, before anybody can see how large it gets.
            if key.tag == _MERGE:
                raise yaml.constructor.ConstructorError(
                    None, None, "write it out without merges (<<)", key.start_mark
                )
        super().flatten_mapping(node)

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key.value!r} is written twice", key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_document(text: str) -> Any:
    """The document in `text`.

    Raises:
        ConfigurationFault: when it is not YAML, with line and column of the fault.
    """
    try:
        _check_depth(text)
        # The loader is CSafeLoader with one more check: it builds plain values only.
        return yaml.load(text, Loader=_Loader)  # noqa: S506
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark or fault.context_mark
        raise _placed(mark, str(fault.problem or fault.context)) from fault
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        raise ConfigurationFault([f"not a YAML document: {fault}"]) from fault


def _placed(mark: Any, told: str) -> ConfigurationFault:
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return ConfigurationFault([f"{place}{told}"])


def _check_depth(text: str) -> None:
    """The loader calls itself for every level, in C, where too many of them end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise _placed(event.start_mark, "the document is nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


@doing("A configuration document was applied.")
def apply_config(document: Any, *, dry_run: bool = False) -> ApplyResult:
    """Make the service named in `document` be as the document says; what it leaves out is default.

    So are its tools; a document may hold them alone, and tools that it does not name stay. All or
    nothing. With `dry_run`, everything is checked and nothing is saved.

    Raises:
        ConfigurationFault: with one line per wrong key; nothing was saved.
    """
    if not holds_tools(document):
        return _apply_service(document, dry_run=dry_run)
    rest = {name: value for name, value in document.items() if name not in {TOOLS, OWNED}}
    with transaction.atomic():
        plan = plan_tools(document) if dry_run else carry_out(document)
        refuse(plan.of(State.REFUSED))
        done = _apply_service(rest, dry_run=dry_run) if rest else ApplyResult("", created=False)
    return replace(done, tools=plan)


def _apply_service(document: Any, *, dry_run: bool) -> ApplyResult:
    check_size(document)
    wanted = parse_document(document)
    with transaction.atomic():
        rows = ServiceConfiguration.objects.select_for_update()
        row = rows.filter(service_name=wanted.service_name).first()
        created = row is None
        row = row or ServiceConfiguration(service_name=wanted.service_name)
        changed = _assign(row, wanted)
        try:
            row.full_clean()
        except ValidationError as fault:
            raise ConfigurationFault(_faults(fault)) from fault
        if not dry_run and (created or changed):
            row.save()
    return ApplyResult(name=wanted.service_name, created=created, changed=changed)


def export_config(name: str | None = None) -> dict[str, Any]:
    """The document of the service `name`; without a name, of the service this process serves.

    Raises:
        ConfigurationFault: when there is no such service.
    """
    rows = ServiceConfiguration.objects.all()
    names = list(rows.values_list("service_name", flat=True))
    if name is None:
        own = deployment().service_overrides.get("SERVICE__NAME", ServiceSettings().service_name)
        name = names[0] if len(names) == 1 else own
    if name not in names:
        known = ", ".join(names) or "none"
        raise ConfigurationFault([f"there is no service {name!r}; configured: {known}"])
    return to_document(rows.get(service_name=name).to_settings())


def to_yaml(document: dict[str, Any]) -> str:
    """`document` as a file people can edit, sections in their usual order."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def _assign(row: ServiceConfiguration, wanted: ServiceSettings) -> list[str]:
    """Put the values of `wanted` into `row`; the paths of those that differed."""
    current = row.to_settings()
    changed = []
    attributes = {key.path: key.attribute for key in KEYS} | {"dependencies": "dependencies"}
    for path, attribute in attributes.items():
        value = getattr(wanted, attribute)
        if not _same(value, getattr(current, attribute)):
            changed.append(path)
        setattr(row, attribute, list(value) if isinstance(value, tuple) else value)
    return changed


def _same(one: Any, other: Any) -> bool:
    # As JSON, because Python takes true for 1.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _faults(fault: ValidationError) -> list[str]:
    paths = {key.attribute: key.path for key in KEYS}
    return [
        message if name == NON_FIELD_ERRORS else f"{paths.get(name, name)}: {message}"
        for name, messages in fault.message_dict.items()
        for message in messages
    ]
