"""The shapes of the REST door, for its OpenAPI document."""

from __future__ import annotations

from rest_framework import serializers

from tools.errors import ErrorCode


class ToolSchemaSerializer(serializers.Serializer[object]):
    """One tool of the list."""

    name = serializers.RegexField(r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)
    description = serializers.CharField()
    input_schema = serializers.DictField(help_text="JSON Schema of the arguments.")


class ToolsResponseSerializer(serializers.Serializer[object]):
    """`GET /tools`."""

    service = serializers.CharField(help_text="Configured name of the service.")
    version = serializers.RegexField(r"^\d+\.\d+\.\d+$", help_text="Version of the service.")
    tools = ToolSchemaSerializer(many=True)


class CallToolSerializer(serializers.Serializer[object]):
    """`POST /call-tool`."""

    tool = serializers.CharField(help_text="Name of a tool from GET /tools.")
    arguments = serializers.DictField(help_text="Checked against the tool's input_schema.")
    request_id = serializers.UUIDField(
        required=False, help_text="Version 4 UUID; made up when absent, echoed in the answer."
    )


class MetaSerializer(serializers.Serializer[object]):
    """What an answer says about itself."""

    execution_time_ms = serializers.IntegerField(min_value=0, required=False)
    rate_limit_remaining = serializers.IntegerField(min_value=0, required=False)
    cache_hit = serializers.BooleanField(required=False)
    api_rate_remaining = serializers.IntegerField(required=False)
    stale = serializers.BooleanField(required=False)
    stale_since = serializers.DateTimeField(required=False)
    budget = serializers.DictField(
        required=False, help_text="What was shortened, and where the whole is."
    )
    details = serializers.DictField(
        required=False,
        help_text="On failure: parameter, value, expected, suggestion, retry_after, available.",
    )


class EnvelopeSerializer(serializers.Serializer[object]):
    """The shape of every answer but GET /tools, GET /health and GET /metrics on success."""

    success = serializers.BooleanField()
    data = serializers.DictField(required=False, help_text="Present on success.")  # type: ignore[assignment] # the wire's name
    error = serializers.CharField(required=False, help_text="Present on failure.")
    code = serializers.ChoiceField(
        choices=[code.value for code in ErrorCode], required=False, help_text="Present on failure."
    )
    request_id = serializers.UUIDField()
    timestamp = serializers.DateTimeField(help_text="ISO 8601, UTC, milliseconds.")
    meta = MetaSerializer(required=False)
