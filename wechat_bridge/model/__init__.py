"""What things are: channels, messages, turns, replies, outcomes and their keys. Pure, no I/O."""
