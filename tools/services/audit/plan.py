"""What of this app, and of the people who use it, is watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import Group, User

from tools.models import (
    ApiClient,
    ApiOperation,
    ApiService,
    Corpus,
    LabelledQuestion,
    PipelineConfig,
    Prompt,
    QuestionSet,
    RegisteredService,
    Resource,
    ServiceConfiguration,
    Tool,
    Toolset,
    UpstreamItem,
    UpstreamServer,
)
from tools.models.audit import Action
from tools.services.audit.receivers import watch
from tools.services.audit.watched import Watched
from tools.services.tool_versions import keep_versions


def watch_all() -> None:
    """Write down every change of these from now on."""
    for model in (Prompt, Resource, Toolset, ServiceConfiguration, Corpus, PipelineConfig, Group):
        watch(Watched(model))
    watch(Watched(Tool, then=keep_versions))
    watch(Watched(ApiOperation))
    watch(Watched(RegisteredService))
    watch(Watched(QuestionSet))
    watch(Watched(LabelledQuestion, parts=True))
    watch(
        Watched(
            ApiClient,
            ignored=frozenset({"last_used_at"}),
            masked=frozenset({"key_hash", "previous_key_hash"}),
            naming=_key,
        )
    )
    watch(
        Watched(
            ApiService,
            ignored=frozenset({"imported", "imported_at", "draft"}),
            masked=frozenset({"secret"}),
        )
    )
    watch(
        Watched(
            UpstreamServer,
            ignored=frozenset({"last_discovery", "discovered_hash", "discovered_at"}),
            masked=frozenset({"environment", "headers"}),
        )
    )
    watch(
        Watched(
            UpstreamItem,
            ignored=frozenset(
                {"metadata", "findings", "approved_hash", "offered_hash", "decided_at"}
            ),
            naming=_decision,
            only_changes=True,
        )
    )
    watch(
        Watched(
            User,
            ignored=frozenset({"last_login", "date_joined"}),
            masked=frozenset({"password"}),
        )
    )


def _key(action: Action, changes: Mapping[str, Any]) -> Action:
    """What became of a client's key."""
    if action is Action.ADDED:
        return Action.ISSUED
    if action is Action.CHANGED and "key_hash" in changes:
        return Action.REPLACED
    off = changes.get("enabled", {}).get("after") is False
    return Action.REVOKED if action is Action.CHANGED and off else action


def _decision(action: Action, changes: Mapping[str, Any]) -> Action:
    """Whether somebody decided on an offer, or its server said something else."""
    if action is not Action.CHANGED:
        return action
    if changes.get("rejected_hash", {}).get("after"):
        return Action.REFUSED
    accepted = "approved" in changes and changes.get("state", {}).get("after") == "approved"
    return Action.APPROVED if accepted else action
