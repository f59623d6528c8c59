"""The official conformance suite against the product's own MCP doors.

The suite calls tools, prompts and resources of fixed names. They exist here only: rows of a
catalogue that tests fill, and handlers that tests put around those of the product.
"""
