"""A todo list as an MCP server of its own. It shares no code with the control plane.

python -m examples.todo_server                      over stdin and stdout
python -m examples.todo_server --http --port 8765   at http://127.0.0.1:8765/mcp
"""
