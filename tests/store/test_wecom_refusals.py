"""Why there is no access token: all processes are told, and nobody asks again too soon."""

from __future__ import annotations

import pytest

from tests.store.wecom_app import WRONG, App, app
from tests.support.together import together
from wechat_bridge.errors import (
    AddressNotTrusted,
    BridgeError,
    CredentialRefused,
    PermissionMissing,
    PlatformUnavailable,
    QuotaUsedUp,
)

__all__ = ["app"]


def test_a_wrong_secret_is_not_asked_with_again_by_anybody_for_a_minute(app: App) -> None:
    app.ask.failures = [WRONG]
    for tokens in (app.tokens, app.tokens, app.other_process()):
        with pytest.raises(CredentialRefused, match="40001") as caught:
            tokens.get(app.corp_id, "7", "mark", app.ask)
        assert caught.value.code == 40001
    assert app.ask.asked == 1
    assert 55 < app.shut_seconds() <= 60


def test_the_pause_after_a_wrong_secret_grows_to_an_hour(app: App) -> None:
    pauses = []
    for _ in range(8):
        app.ask.failures = [WRONG]
        with pytest.raises(CredentialRefused):
            app.get()
        pauses.append(round(app.shut_seconds() / 60))
        app.let_pass("shut_until")
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_new_secret_is_tried_at_once(app: App) -> None:
    app.ask.failures = [WRONG]
    with pytest.raises(CredentialRefused):
        app.get()
    assert app.get(mark="the right secret") == "t2"


def test_twenty_threads_learn_of_a_failure_from_one_question(app: App) -> None:
    app.ask.failures = [PlatformUnavailable("no answer")] * 20

    def attempt(_: int) -> str:
        try:
            return app.get()
        except PlatformUnavailable as error:
            return str(error)[:9]

    assert set(together(20, attempt)) == {"no answer"}
    assert app.ask.asked == 1


def test_after_a_failure_that_may_pass_it_is_asked_again_and_success_forgets_it(app: App) -> None:
    app.ask.failures = [PlatformUnavailable("x"), PlatformUnavailable("x")]
    pauses = []
    for _ in range(2):
        with pytest.raises(PlatformUnavailable):
            app.get()
        pauses.append(round(app.shut_seconds()))
        app.let_pass("shut_until")
    assert pauses == [2, 4]
    assert app.get() == "t3"
    assert app.client.hexists(app.key, "failures") == 0


@pytest.mark.parametrize(
    "failure",
    [
        AddressNotTrusted("60020 from 192.0.2.7", 60020, "192.0.2.7"),
        PermissionMissing("50003", 50003),
        CredentialRefused("40013", 40013),
        QuotaUsedUp("45009", 60.0),
        PlatformUnavailable("-1"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_another_process_is_told_the_same_error_without_asking(app: App, failure: BridgeError) -> None:
    app.ask.failures = [failure]
    with pytest.raises(type(failure)):
        app.get()
    with pytest.raises(type(failure)) as caught:
        app.other_process().get(app.corp_id, "7", "mark", app.ask)
    assert type(caught.value) is type(failure)
    assert str(caught.value).startswith(str(failure))
    assert "asked for again in" in str(caught.value)
    for name in ("code", "address"):
        assert getattr(caught.value, name, None) == getattr(failure, name, None)
    assert app.ask.asked == 1


@pytest.mark.parametrize(
    ("failure", "least_seconds"),
    [(PlatformUnavailable("-1"), 1), (QuotaUsedUp("45009", 60.0), 55), (WRONG, 55)],
    ids=["-1", "45009", "40001"],
)
def test_a_renewal_that_fails_keeps_the_old_token_until_its_end_and_backs_off(
    app: App, failure: BridgeError, least_seconds: float
) -> None:
    app.get()
    app.let_pass("renew_at")
    app.ask.failures = [failure]
    assert [app.get() for _ in range(10)] == ["t1"] * 10
    assert app.ask.asked == 2
    assert app.shut_seconds() > least_seconds
