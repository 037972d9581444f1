"""Servers of 127.0.0.1 that stand between the bridge and Redis or MongoDB, and misbehave as told."""
