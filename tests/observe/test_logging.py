"""Every line of a process, whoever wrote it, is one JSON object with its ids and without a secret."""

from __future__ import annotations

import io
import logging as standard
import sys
from datetime import UTC, datetime

import pytest
import structlog
from pydantic import SecretStr

from tests.observe.conftest import Log
from tests.support.world import KEY
from wechat_bridge.model.media import Media
from wechat_bridge.model.message import ItemKind
from wechat_bridge.observe import logging
from wechat_bridge.store.media_links import MediaLinks


def fail(message: str) -> None:
    raise ValueError(message)


def test_an_event_is_one_json_line_with_its_ids(log: Log) -> None:
    logging.logger("bridge.test").info("chunk_sent", turn_id="wechat-reply:a:1", number=0, text="你好\nsecond line")
    (line,) = log.lines()
    assert line.items() >= {"event": "chunk_sent", "turn_id": "wechat-reply:a:1", "number": 0}.items()
    assert (line["level"], line["logger"]) == ("info", "bridge.test")
    assert line["timestamp"].endswith("Z")
    assert "你好" in log.text()


def test_lines_of_other_libraries_look_the_same(log: Log) -> None:
    standard.getLogger("some.library").warning("connection %s lost", 7)
    (line,) = log.lines()
    assert line.items() >= {"event": "connection 7 lost", "level": "warning", "logger": "some.library"}.items()


def test_ids_bound_around_a_task_are_on_every_line_within(log: Log) -> None:
    with structlog.contextvars.bound_contextvars(task_id="t-1"):
        logging.logger("bridge.test").info("inside")
        standard.getLogger("some.library").warning("inside too")
    logging.logger("bridge.test").info("outside")
    assert [line.get("task_id") for line in log.lines()] == ["t-1", "t-1", None]


def test_what_is_below_the_level_is_not_written(log: Log) -> None:
    logging.logger("bridge.test").debug("details")
    standard.getLogger("pymongo.command").info("every single query")
    standard.getLogger("uvicorn.access").info("GET /livez")
    assert log.text() == ""


def test_an_access_log_that_somebody_turned_on_shows_no_link_to_media(log: Log) -> None:
    links = MediaLinks([SecretStr(KEY)], "https://bridge.example.com", 600)
    media = Media(id="in:shop:1:0", turn_id="t", file_id="f", kind=ItemKind.IMAGE, at=datetime.now(UTC))
    path = links.link_to(media, media.at).removeprefix("https://bridge.example.com")
    standard.getLogger("uvicorn.access").warning('%s - "%s %s HTTP/%s" %d', "127.0.0.1:1", "GET", path, "1.1", 200)
    (line,) = log.lines()
    assert line["event"] == '127.0.0.1:1 - "GET /media/***?filename=file.bin HTTP/1.1" 200'
    assert path[20:60] not in log.text()


def test_a_traceback_stays_on_one_line_and_shows_no_password(log: Log) -> None:
    try:
        fail("cannot use redis://user:hunter2@redis.example/0")
    except ValueError:
        logging.logger("bridge.test").exception("task_crashed")
    (line,) = log.lines()
    assert "Traceback" in line["exception"]
    assert "redis.example" in line["exception"]
    assert "hunter2" not in log.text()


def test_a_secret_is_masked_wherever_it_stands(log: Log) -> None:
    logger = logging.logger("bridge.test")
    logger.info("login", bot_token="hunter2", account={"aeskey": "hunter2", "names": ["a"]}, prompt_tokens=12)
    logger.info("call", headers=["Authorization: Bearer hunter2hunter2"], url="https://x/y?access_token=hunter2&b=1")
    standard.getLogger("urllib3").warning("retry %s", {"corpsecret": "hunter2"})
    assert "hunter2" not in log.text()
    assert log.lines()[0]["prompt_tokens"] == 12
    assert log.lines()[0]["account"]["names"] == ["a"]
    assert log.lines()[1]["url"].endswith("&b=1")


def test_configuring_again_writes_every_line_once(log: Log) -> None:
    logging.configure("json", "INFO", log.stream)
    logging.logger("bridge.test").info("once")
    assert len(log.lines()) == 1


def test_a_person_reads_plain_lines_with_tracebacks(restored: None) -> None:
    written = Log()
    logging.configure("console", "INFO", written.stream)
    try:
        fail("broken")
    except ValueError:
        logging.logger("bridge.test").exception("task_crashed", turn_id="t")
    text = written.text()
    assert "task_crashed" in text
    assert "turn_id=t" in text
    assert "ValueError: broken" in text
    assert "\x1b" not in text  # no colours where nobody sees them


def test_lines_go_to_stderr_by_default(restored: None, capsys: pytest.CaptureFixture[str]) -> None:
    logging.configure()
    logging.logger("bridge.test").info("hello")
    for handler in standard.getLogger().handlers:
        handler.flush()
    assert isinstance(sys.stderr, io.TextIOBase)
    assert '"event": "hello"' in capsys.readouterr().err
