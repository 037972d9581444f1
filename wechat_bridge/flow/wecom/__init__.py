"""A channel that is an app of WeCom: what it is made of, its callbacks, and what keeps WeCom from its messages."""
