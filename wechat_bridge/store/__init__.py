"""Doors to MongoDB and Redis: one class per collection or key family. Lua scripts stand beside them."""
