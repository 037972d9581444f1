"""What operators see: logs, alerts, metrics."""
