"""What follows from an error: one pure function, by table."""

from __future__ import annotations

import pytest

from wechat_bridge import errors
from wechat_bridge.channels.base import PollCut
from wechat_bridge.errors import BridgeError
from wechat_bridge.model.outcome import GiveUp, Park, RetryBudget, RetryIn, decide

BUDGET = RetryBudget(max_retries=3, base_seconds=2.0, cap_seconds=300.0)

TRANSIENT = [
    errors.TransientError("x"),
    errors.LedgerUnavailable("x"),
    errors.BrokerUnavailable("x"),
    errors.PlatformUnavailable("x"),
    errors.PlatformBusy("x"),
    errors.QuotaUsedUp("x"),
    errors.EngineUnavailable("x"),
    errors.ConversationBusy("x"),
    errors.DispatchUnavailable("x"),
    errors.OwnerStale(),
    PollCut("x"),
]
REFUSED = [
    (errors.RefusedError("x"), "refused"),
    (errors.SessionExpired("x"), "login_needed"),
    (errors.SendRefused(-2, ""), "send_refused"),
    (errors.SendBudgetExhausted("x"), "send_budget"),
    (errors.SessionNotOurs("x"), "session_not_ours"),
    (errors.AppHeld("x", 45031), "app_held"),
    (errors.AddressNotTrusted("x", 60020, "192.0.2.7"), "address_not_trusted"),
    (errors.CredentialRefused("x", 40001), "credential_refused"),
    (errors.PermissionMissing("x", 48002), "permission_missing"),
]
HOPELESS = [
    errors.BridgeError("x"),
    errors.SettingsError("x"),
    errors.ServiceNotReachable("x"),
    errors.LedgerTooNew("x"),
    errors.IndexNotBuilt("x"),
    errors.PermanentError("x"),
    errors.EngineRefused("x"),
    errors.NotConfigured("x"),
    errors.ChannelExists("x"),
    errors.ChannelUnknown("x"),
    errors.AccessRefused("x"),
    errors.ConfigurationRefused("x"),
    errors.AccountTaken("x"),
    errors.ChannelBusy("x"),
    errors.ChannelInvalid("x"),
    errors.LoginFailed("x"),
    errors.NoticeRefused("x"),
    errors.NoticeWaits("x"),
    errors.TaskFailed("x"),
    errors.DeadLetterUnknown("x"),
    errors.ReplayRefused("x"),
    errors.MediaUnreadable("x"),
    errors.MediaRefused("x"),
    errors.MediaExpired("x"),
    errors.RecipientRefused("x"),
    errors.ContentRefused("x"),
    errors.CallbackRefused("x"),
    errors.CallbackForged("x"),
    errors.CallbackMalformed("x"),
    errors.EventRefused("x"),
    errors.UnsupportedMediaType("x"),
    errors.MessageParseError("x"),
    errors.PayloadTooLarge("x"),
    errors.ValidationError("x"),
    errors.DispatchRefused("x"),
    errors.WorkGivenUp("x"),
    errors.DocumentInvalid("x"),
]


def classes(root: type[BridgeError]) -> set[type[BridgeError]]:
    """A class of errors and all below it."""
    return {root}.union(*(classes(child) for child in root.__subclasses__()))


def test_the_tables_here_know_every_class_of_our_own_errors() -> None:
    ours = {kind for kind in classes(BridgeError) if kind.__module__ == errors.__name__}
    tested = {type(error) for error in [*TRANSIENT, *HOPELESS, *(error for error, _ in REFUSED)]}
    assert ours <= tested


@pytest.mark.parametrize("error", TRANSIENT, ids=lambda error: type(error).__name__)
def test_what_may_pass_is_tried_again_three_times_and_then_given_up(error: BridgeError) -> None:
    for attempt in (1, 2, 3):
        assert isinstance(decide(error, attempt, BUDGET), RetryIn)
    end = decide(error, 4, BUDGET)
    assert isinstance(end, GiveUp)
    assert type(error).__name__ in end.reason
    assert "after 4 attempts" in end.reason


@pytest.mark.parametrize(("error", "reason"), REFUSED, ids=lambda part: part if isinstance(part, str) else "")
@pytest.mark.parametrize("attempt", [1, 4, 99])
def test_what_somebody_else_has_to_change_is_parked_however_often_it_was_tried(
    error: BridgeError, reason: str, attempt: int
) -> None:
    assert decide(error, attempt, BUDGET) == Park(reason)


@pytest.mark.parametrize("error", HOPELESS, ids=lambda error: type(error).__name__)
def test_what_will_fail_again_is_given_up_at_once(error: BridgeError) -> None:
    end = decide(error, 1, BUDGET)
    assert isinstance(end, GiveUp)
    assert end.reason == f"{type(error).__name__}: x"


@pytest.mark.parametrize(("attempt", "least", "most"), [(1, 1.0, 2.0), (2, 0.2, 4.0), (3, 0.2, 8.0), (9, 0.2, 300.0)])
def test_delays_grow_and_vary_within_bounds(attempt: int, least: float, most: float) -> None:
    budget = RetryBudget(max_retries=20, base_seconds=2.0, cap_seconds=300.0)
    delays = [seconds_of(errors.EngineUnavailable("x"), attempt, budget) for _ in range(500)]
    assert least <= min(delays)
    assert max(delays) <= most
    assert max(delays) - min(delays) > (most - least) / 2  # turns that failed together do not come back together


def test_what_the_other_side_asked_for_is_the_least_delay() -> None:
    patient = errors.PlatformBusy("x", retry_after_seconds=60.0)
    assert {seconds_of(patient, 1, BUDGET) for _ in range(50)} == {60.0}
    hasty = errors.PlatformBusy("x", retry_after_seconds=0.001)
    assert all(1.0 <= seconds_of(hasty, 1, BUDGET) <= 2.0 for _ in range(50))


def test_no_retries_means_one_attempt() -> None:
    assert isinstance(decide(errors.EngineUnavailable("x"), 1, RetryBudget(max_retries=0)), GiveUp)


def test_a_thousand_retries_are_possible_and_none_waits_longer_than_the_cap() -> None:
    budget = RetryBudget(max_retries=5_000, base_seconds=2.0, cap_seconds=300.0)
    assert seconds_of(errors.EngineUnavailable("x"), 4_000, budget) <= 300.0


def seconds_of(error: BridgeError, attempt: int, budget: RetryBudget) -> float:
    """The delay that is decided on."""
    outcome = decide(error, attempt, budget)
    assert isinstance(outcome, RetryIn)
    return outcome.seconds
