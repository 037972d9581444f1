"""The web process: health and metrics."""
