"""Faithful local servers of the platforms, for the demo, the tests and the benchmarks.

They import nothing of the bridge: what they know about a platform they know from its protocol alone, so that a mistake
of the bridge cannot hide in both. ``python -m wechat_bridge.simulators NAME`` runs one of them alone.
"""
