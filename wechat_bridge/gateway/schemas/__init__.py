"""What payloads have to look like, by type of event.

A type has a model (``examples``, or a package's by entry point ``wechat_bridge.schemas``) or a JSON Schema of the
configuration. ``registry`` builds each once, ``check`` finds what is wrong with rules before they are in force.
"""
