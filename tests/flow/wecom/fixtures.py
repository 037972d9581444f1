"""An app of each test's own, and an engine that sends files."""

from __future__ import annotations

import pytest

from tests.support.wecom_world import WecomWorld
from wechat_bridge.engines.base import Answer, AnswerFile, Question
from wechat_bridge.simulators.wecom import WecomControl
from wechat_bridge.wiring import Wired


@pytest.fixture
def app(wired: Wired, wecom: WecomControl) -> WecomWorld:
    """An app of this test alone."""
    return WecomWorld.of_app(wired, wecom)


class Mirror:
    """Sends back what it is sent."""

    name = "echo"

    def answer(self, question: Question) -> Answer:
        """Return the files as they came."""
        files = [AnswerFile(each.kind, each.label, each.mime, each.read()) for each in question.media]
        return Answer(text=question.text, files=tuple(files))
