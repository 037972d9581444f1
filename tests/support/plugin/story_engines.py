"""An engine of another package: the question says how long to think, and every call is noted in a file."""

from __future__ import annotations

import os
import time
from pathlib import Path

from wechat_bridge.engines.base import Answer, AnswerFile, Question

LOG_NAME = "STORY_ENGINE_LOG"


class SlowEngine:
    """Answers ``3 hello`` with ``hello`` after three seconds."""

    name = "slow"

    def answer(self, question: Question) -> Answer:
        """Note the call, think, answer."""
        seconds, _, text = question.text.partition(" ")
        with Path(os.environ[LOG_NAME]).open("a", encoding="utf-8") as log:
            log.write(f"{question.turn_id}\t{text}\n")
        time.sleep(float(seconds))
        return Answer(text=text)


class MirrorEngine:
    """Answers each picture or file with itself, its bytes behind the first eight in reverse order."""

    name = "mirror"

    def answer(self, question: Question) -> Answer:
        """Note the call, turn everything round."""
        with Path(os.environ[LOG_NAME]).open("a", encoding="utf-8") as log:
            log.write(f"{question.turn_id}\t{question.text}\n".replace("\n[", " ["))
        files = tuple(
            AnswerFile(each.kind, each.label, each.mime, data[:8] + data[:7:-1])
            for each, data in ((each, each.read()) for each in question.media)
        )
        return Answer(text=question.text, files=files)
