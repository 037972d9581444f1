"""Doors to platforms. ``base`` is what the flow asks of them; platforms are independent of each other."""
