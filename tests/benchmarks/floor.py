"""The least that long polling costs in this language: one thread a channel, ``requests``, and nothing else.

Run as ``python -m tests.benchmarks.floor BASE_URL TOKENS_FILE SPREAD_SECONDS``; polls for ever. It stores nothing,
survives nothing and notices nothing, so that the distance to it is what the bridge's promises cost.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter

TIMEOUT_SECONDS = (5.0, 45.0)


def poll_for_ever(session: requests.Session, url: str, token: str, spread_seconds: float) -> None:
    """Poll one channel, beginning at a random moment; messages are thrown away."""
    time.sleep(random.uniform(0, spread_seconds))
    cursor = ""
    headers = {"Authorization": f"Bearer {token}", "AuthorizationType": "ilink_bot_token"}
    while True:
        body = {"get_updates_buf": cursor, "base_info": {"channel_version": "2.4.9"}}
        answer = session.post(url, json=body, headers=headers, timeout=TIMEOUT_SECONDS).json()
        cursor = answer.get("get_updates_buf") or cursor


def main(base_url: str, tokens_file: str, spread_seconds: str) -> None:
    """Poll every channel whose token is in the file, a JSON list."""
    tokens: list[str] = json.loads(Path(tokens_file).read_text(encoding="utf-8"))
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", HTTPAdapter(pool_maxsize=len(tokens)))
    url = f"{base_url}/ilink/bot/getupdates"
    threads = [
        threading.Thread(target=poll_for_ever, args=(session, url, token, float(spread_seconds)), daemon=True)
        for token in tokens
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
