"""Doors to reply engines. ``base`` is what the flow asks of them."""
