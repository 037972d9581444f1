"""What an operator calls: through a real ops worker, with the results as they come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from celery.result import AsyncResult

from tests.flow.delivering import generated
from tests.support.system import System, wait_until
from tests.support.world import World
from wechat_bridge.errors import TaskFailed
from wechat_bridge.flow.dead_letters.dead import record_dead_letter
from wechat_bridge.flow.failure import give_up
from wechat_bridge.flow.login.start import start_login
from wechat_bridge.model.login import LoginPhase
from wechat_bridge.model.turn import TurnState
from wechat_bridge.simulators.ilink import IlinkSimulator
from wechat_bridge.store import redis_keys

pytestmark = pytest.mark.story

SECONDS = 15


@pytest.fixture(scope="module")
def system(
    urls: tuple[str, str], tmp_path_factory: pytest.TempPathFactory, simulator: IlinkSimulator
) -> Iterator[System]:
    """An ops worker that logs in at the simulated WeChat, and nobody who rings by a clock."""
    login = {"API_BASE": simulator.base_url, "QUESTION_SECONDS": "0.5"}
    environment = {f"WECHAT_BRIDGE_LOGIN__{name}": value for name, value in login.items()}
    directory = tmp_path_factory.mktemp("system")
    with System(urls, directory, simulator.control, simulator.base_url, **environment) as running:
        running.start("ops", threads=4)
        running.wait_alive(1)
        yield running


def send(system: System, name: str, *args: Any, **kwargs: Any) -> AsyncResult:
    return system.wired.celery.send_task(f"wechat_bridge.{name}", args, kwargs)


def call(system: System, name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """The result of a management task, as whoever called it gets it."""
    result: dict[str, Any] = send(system, name, *args, **kwargs).get(timeout=SECONDS)
    return result


def refusal(system: System, name: str, *args: Any, **kwargs: Any) -> str:
    """The message with which a management task fails."""
    with pytest.raises(TaskFailed) as caught:
        send(system, name, *args, **kwargs).get(timeout=SECONDS)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def phase(world: World) -> LoginPhase | None:
    login = world.bridge.logins.get(world.share_id)
    return login.phase if login else None


def test_a_relogin_gives_a_code_to_scan_and_is_followed_to_its_end_by_chained_tasks(system: System) -> None:
    world = system.channel()
    before = world.channel
    result = call(system, "relogin", f" {world.share_id} ")
    assert (result["phase"], result["message"]) == ("scan", "scan the code with WeChat on the phone")
    assert result["link"].startswith("https://liteapp.weixin.qq.com/q/")
    assert "█" in result["qr"]
    again = call(system, "relogin", share_id=world.share_id)
    assert again["link"] == result["link"], "one that is in progress is joined"
    qrcode = result["link"].split("qrcode=")[1].split("&")[0]
    system.control.scan(qrcode)
    wait_until(lambda: phase(world) is LoginPhase.CONFIRM, SECONDS, "the scan is seen")
    bot = system.control.confirm(qrcode, f"scanner-{world.share_id}@im.wechat")
    wait_until(lambda: phase(world) is LoginPhase.DONE, SECONDS, "the login is complete")
    assert (world.channel.account_id, world.channel.epoch) == (bot["ilink_bot_id"], before.epoch + 1)
    log = system.log_of("ops")
    assert bot["bot_token"] not in log
    assert qrcode not in log


def test_the_number_of_the_phone_is_submitted_as_typed_and_judged(system: System) -> None:
    world = system.channel()
    qrcode = call(system, "relogin", world.share_id)["link"].split("qrcode=")[1].split("&")[0]
    assert "asks for no number just now" in refusal(system, "submit_verify_code", world.share_id, "1")
    system.control.scan(qrcode, verify_code="4711")
    wait_until(lambda: phase(world) is LoginPhase.NUMBER, SECONDS, "the number is asked for")
    assert "that number is wrong" in refusal(system, "submit_verify_code", world.share_id, " 1 ")
    assert call(system, "submit_verify_code", world.share_id, 4711)["phase"] == "confirm"
    system.control.confirm(qrcode, f"scanner-{world.share_id}@im.wechat")
    wait_until(lambda: phase(world) is LoginPhase.DONE, SECONDS, "the login is complete")


def test_a_login_begun_without_a_worker_is_taken_up_by_the_sweep(system: System) -> None:
    world = system.channel()
    login = start_login(world.bridge, world.share_id, system.base_url)
    bot = system.control.confirm(login.qrcode, f"scanner-{world.share_id}@im.wechat")
    world.bridge.logins.rang(world.share_id, world.bridge.clock.now())  # so long ago that it seems lost
    system.wired.celery.send_task("wechat_bridge.sweep", ignore_result=True)
    wait_until(lambda: phase(world) is LoginPhase.DONE, SECONDS, "the login is complete")
    assert world.channel.account_id == bot["ilink_bot_id"]


def test_a_channel_is_switched_probed_and_logged_out(system: System) -> None:
    world = system.channel()
    assert call(system, "disable", world.share_id) == {"share_id": world.share_id, "message": "disabled"}
    assert not world.channel.enabled
    assert "is disabled; enable it first" in refusal(system, "probe", world.share_id)
    assert call(system, "enable", world.share_id)["message"] == "enabled"
    assert call(system, "probe", world.share_id)["status"] == "online"
    assert "logged out" in call(system, "logout", world.share_id)["message"]
    assert world.channel.sealed_account is None
    assert "is not logged in (logged_out)" in refusal(system, "probe", world.share_id)


def test_a_dead_letter_is_replayed(system: System) -> None:
    world = system.channel()
    turn = generated(world)
    claimed = world.bridge.turns.claim(
        turn.id, TurnState.GENERATED, TurnState.DELIVERING, "o", world.bridge.clock.now(), world.bridge.clock.after(60)
    )
    assert claimed is not None
    give_up(world.bridge, claimed, "refused")
    record_dead_letter(world.bridge, turn.id)
    assert call(system, "replay_dead_letter", turn.id)["message"] == "the stored answer is sent"
    assert "was replayed already" in refusal(system, "replay_dead_letter", id=turn.id)


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("relogin", ["nobody"], "there is no channel nobody"),
        ("submit_verify_code", ["nobody", "1"], "there is no channel nobody"),
        ("logout", ["nobody"], "there is no channel nobody"),
        ("enable", ["nobody"], "there is no channel nobody"),
        ("disable", ["nobody"], "there is no channel nobody"),
        ("probe", ["nobody"], "there is no channel nobody"),
        ("replay_dead_letter", ["nothing"], "there is no dead letter nothing"),
        ("relogin", ["My Shop"], "share_id should be the name of a channel"),
        ("relogin", [None], "share_id should be the name of a channel"),
        ("relogin", [["x"]], "share_id should be the name of a channel"),
        ("relogin", [], "takes (share_id): missing a required argument: 'share_id'"),
        ("relogin", ["a", "b"], "takes (share_id): too many positional arguments"),
        ("submit_verify_code", ["a"], "takes (share_id, code): missing a required argument: 'code'"),
        ("replay_dead_letter", [""], "id should be that of a dead letter"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(system: System, name: str, args: list[Any], said: str) -> None:
    assert said in refusal(system, name, *args)


def test_a_refused_request_is_no_dead_letter(system: System) -> None:
    before = len(list(system.wired.bridge.dead_letters.waiting()))
    refusal(system, "relogin", "nobody")
    assert len(list(system.wired.bridge.dead_letters.waiting())) == before


def test_an_error_nobody_expected_is_answered_by_its_name_only_and_kept(system: System) -> None:
    world = system.channel()
    world.bridge.channels.collection.update_one({"_id": world.share_id}, {"$set": {"epoch": "sk-secret0123456789012"}})
    said = refusal(system, "relogin", world.share_id)
    assert "sk-secret" not in said
    world.bridge.channels.collection.delete_one({"_id": world.share_id})


def test_results_are_the_only_ones_kept_and_not_for_long(system: System) -> None:
    client = system.wired.redis
    call(system, "enable", system.channel().share_id)
    kept = [str(key) for key in client.scan_iter(f"{redis_keys.RESULT_PREFIX}*")]
    assert kept
    assert all(0 < int(str(client.ttl(key))) <= 600 for key in kept)
    assert not [key for key in client.scan_iter("*celery-task-meta*") if key not in kept]
    assert system.wired.celery.send_task("wechat_bridge.sweep", ignore_result=True).id not in "".join(kept)
