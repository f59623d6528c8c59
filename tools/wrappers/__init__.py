"""Client wrappers for services that serve `GET /tools` and `POST /call-tool`: made from what they list.

Everything a service says about its tools is text of strangers. It reaches a file only through the
filters of `quoting`, and the name of a file or of a variable only through `naming`.
"""
