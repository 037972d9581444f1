"""Whether messages flow, judged by the progress that ledger and queues show."""
