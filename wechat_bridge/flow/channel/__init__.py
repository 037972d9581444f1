"""What an operator does to a channel: open, configure, switch, remove."""
