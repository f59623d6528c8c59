"""A small OpenAPI document, for tests of what is done with one."""

from __future__ import annotations

import json
from typing import Any


def shop(**paths: Any) -> dict[str, Any]:
    """A shop with two operations; `paths` replaces or adds some (None removes one)."""
    usual = {
        "/items/{id}": {
            "get": {
                "operationId": "getItem",
                "summary": "Get one item of the shop.",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {"name": "full", "in": "query", "schema": {"type": "boolean"}},
                ],
                "responses": {"200": {"description": "The item."}},
            }
        },
        "/orders": {
            "post": {
                "operationId": "addOrder",
                "summary": "Order items of the shop.",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["item"],
                                "properties": {
                                    "item": {"type": "integer"},
                                    "count": {"type": "integer", "minimum": 1},
                                },
                            }
                        }
                    },
                },
                "responses": {"201": {"description": "The order."}},
            }
        },
    }
    merged = {**usual, **paths}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1.0"},
        "servers": [{"url": "https://shop.example/v1"}],
        "paths": {path: item for path, item in merged.items() if item is not None},
    }


def written(document: dict[str, Any]) -> str:
    return json.dumps(document)
