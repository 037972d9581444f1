"""Figures of the bridge, by hand, with real processes: ``python -m tests.benchmarks idle|latency|recovery|demo``.

Each command prints a small table and one line of JSON on stdout and its progress on stderr. The machine is rarely
quiet: every table says how much of it other programs used meanwhile, and the figures of the bridge are to be read
against the floor (``idle --floor``) of the same run.
"""
