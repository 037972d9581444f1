"""A simulated WeCom for each module, and an app of each test's own, and an engine that sends files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.wecom_world import WecomWorld
from wechat_bridge.engines.base import Answer, AnswerFile, Question
from wechat_bridge.simulators.wecom import WecomControl, WecomSimulator
from wechat_bridge.wiring import Wired


@pytest.fixture(scope="module")
def simulated_wecom() -> Iterator[WecomSimulator]:
    """A simulated WeCom."""
    with WecomSimulator() as running:
        yield running


@pytest.fixture
def wecom(simulated_wecom: WecomSimulator) -> WecomControl:
    """The members, the operator and the person behind the server, with nothing left of other tests."""
    simulated_wecom.control.reset()
    simulated_wecom.control.set_options(**dict.fromkeys(("source_ip", "app_per_day")))
    return simulated_wecom.control


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
