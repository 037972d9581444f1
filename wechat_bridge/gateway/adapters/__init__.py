"""Doors for formats: bytes become a payload, which is what JSON knows, whatever it came as.

The same business event is equal in all formats: ``json``, ``xml``, ``protobuf`` and ``binary`` each say how a value is
written so that it is. Others plug in by entry point ``wechat_bridge.adapters``. ``registry`` chooses.
"""
