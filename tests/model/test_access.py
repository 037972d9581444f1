"""Who may talk and how much: every policy with every standing, and what is too much."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from wechat_bridge.model import access
from wechat_bridge.model.access import AccessRules, Person, Policy, Reason, Standing, Usage, Waiting

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
OPEN = AccessRules()
LISTED, PAIRED, DENIED = Standing.LISTED, Standing.PAIRED, Standing.DENIED

TABLE: list[tuple[Policy, Standing | None, bool, Reason | None]] = [
    (Policy.OPEN, None, False, None),
    (Policy.OPEN, LISTED, False, None),
    (Policy.OPEN, PAIRED, False, None),
    (Policy.OPEN, DENIED, False, Reason.DENIED),
    (Policy.ALLOWLIST, None, False, Reason.NOT_LISTED),
    (Policy.ALLOWLIST, LISTED, False, None),
    (Policy.ALLOWLIST, PAIRED, False, Reason.NOT_LISTED),  # an earlier pairing does not count
    (Policy.ALLOWLIST, DENIED, False, Reason.DENIED),
    (Policy.ALLOWLIST, None, True, None),
    (Policy.PAIRING, None, False, Reason.NOT_PAIRED),
    (Policy.PAIRING, LISTED, False, None),
    (Policy.PAIRING, PAIRED, False, None),
    (Policy.PAIRING, DENIED, False, Reason.DENIED),
    (Policy.PAIRING, None, True, None),
    (Policy.PAIRING, DENIED, True, Reason.DENIED),
    (Policy.DISABLED, LISTED, False, Reason.DISABLED),
    (Policy.DISABLED, None, True, Reason.DISABLED),
]


def minutes(count: float) -> datetime:
    """A time before NOW."""
    return NOW - timedelta(minutes=count)


def messages(count: int) -> list[Waiting]:
    """So many questions, the oldest is m0."""
    return [Waiting(f"m{number}") for number in range(count)]


@pytest.mark.parametrize(("policy", "standing", "is_owner", "reason"), TABLE)
def test_who_is_answered_follows_from_policy_standing_and_who_scanned(
    policy: Policy, standing: Standing | None, is_owner: bool, reason: Reason | None
) -> None:
    assert access.refusal(AccessRules(policy=policy), is_owner, Person(standing=standing), NOW) is reason


def test_a_muted_person_is_not_answered_but_a_stranger_is_a_stranger_first() -> None:
    muted = Person(muted=True)
    assert access.refusal(OPEN, True, muted, NOW) is Reason.MUTED
    assert access.refusal(AccessRules(policy=Policy.PAIRING), False, muted, NOW) is Reason.NOT_PAIRED


@pytest.mark.parametrize(("until", "reason"), [(1, Reason.HUMAN), (0, None), (-1, None)])
def test_a_human_answers_until_their_time_is_over(until: int, reason: Reason | None) -> None:
    taken = Person(human_until=NOW + timedelta(seconds=until))
    assert access.refusal(OPEN, False, taken, NOW) is reason


def test_commands_work_while_a_human_answers_but_for_nobody_else_who_is_refused() -> None:
    waiting = [Waiting("question"), Waiting("command", is_command=True)]
    human = Person(human_until=NOW + timedelta(hours=1))
    assert access.refused(OPEN, False, human, Usage(), waiting, NOW) == {"question": Reason.HUMAN}
    muted = access.refused(OPEN, False, Person(muted=True), Usage(), waiting, NOW)
    assert muted == dict.fromkeys(["question", "command"], Reason.MUTED)


@pytest.mark.parametrize(
    ("most", "count", "began", "refused"),
    [
        (0, 1000, 0.5, []),  # no limit
        (3, 3, 0.5, []),
        (3, 4, 0.5, ["m3"]),
        (3, 5, 0.5, ["m2", "m3"]),  # the newest
        (3, 1000, 0.5, ["m0", "m1", "m2", "m3"]),  # never more than there are
        (3, 1000, 1.0, []),  # that minute is over
    ],
)
def test_of_too_many_messages_a_minute_the_newest_are_refused(
    most: int, count: int, began: float, refused: list[str]
) -> None:
    rules, usage = AccessRules(messages_per_minute=most), Usage(minute_from=minutes(began), minute_count=count)
    found = access.refused(rules, False, Person(), usage, messages(4), NOW)
    assert found == dict.fromkeys(refused, Reason.RATE)


@pytest.mark.parametrize(
    ("count", "began", "refused"), [(2, 60, []), (3, 60, ["m3"]), (3, 24 * 60 - 1, ["m3"]), (3, 24 * 60, [])]
)
def test_the_messages_of_a_day_run_out(count: int, began: float, refused: list[str]) -> None:
    rules, usage = AccessRules(messages_per_day=2), Usage(day_from=minutes(began), day_count=count)
    found = access.refused(rules, False, Person(), usage, messages(4), NOW)
    assert found == dict.fromkeys(refused, Reason.QUOTA)


def test_the_quota_refuses_no_command_and_the_rate_does() -> None:
    waiting = [*messages(1), Waiting("command", is_command=True)]
    usage = Usage(minutes(0.5), 9, minutes(0.5), 9)
    quota = access.refused(AccessRules(messages_per_day=1), False, Person(), usage, waiting, NOW)
    assert quota == {"m0": Reason.QUOTA}
    rate = access.refused(AccessRules(messages_per_minute=8), False, Person(), usage, waiting, NOW)
    assert rate == {"command": Reason.RATE}


def test_commands_are_limited_while_a_human_answers_and_what_the_human_reads_counts_for_nothing() -> None:
    human = Person(human_until=NOW + timedelta(hours=1))
    commands = [Waiting(f"c{number}", is_command=True) for number in range(3)]
    usage, rules = Usage(minutes(0.5), 7, minutes(0.5), 7), AccessRules(messages_per_minute=2, messages_per_day=1)
    found = access.refused(rules, False, human, usage, [*messages(4), *commands], NOW)
    assert found == dict.fromkeys(["m0", "m1", "m2", "m3"], Reason.HUMAN) | {"c2": Reason.RATE}


def test_a_limit_below_nothing_is_no_limit_anybody_can_set() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        AccessRules(messages_per_day=-1)


def test_only_strangers_and_who_writes_too_much_are_told_each_once_a_window() -> None:
    usage = Usage(minutes(0.5), 9, minutes(70), 9)
    told = {reason: access.told_since(reason, usage, NOW) for reason in Reason}
    assert {reason: since for reason, since in told.items() if since is not None} == {
        Reason.NOT_PAIRED: minutes(60),
        Reason.RATE: minutes(0.5),
        Reason.QUOTA: minutes(70),
    }


def test_a_code_has_eight_characters_that_cannot_be_mistaken_and_is_another_each_time() -> None:
    codes = {access.new_code() for _ in range(200)}
    assert len(codes) == 200
    assert {len(code) for code in codes} == {8}
    assert not set("".join(codes)) & set("IO01")
    assert access.as_typed(" abcd-efgh ") == "ABCDEFGH"


@pytest.mark.parametrize(("code", "seconds", "waits"), [("ABCDEFGH", 1, True), ("ABCDEFGH", 0, False), ("", 1, False)])
def test_a_code_waits_until_it_is_spent_or_too_old(code: str, seconds: int, waits: bool) -> None:
    assert Person(code=code, code_until=NOW + timedelta(seconds=seconds)).has_code(NOW) is waits
