"""``message/send``, ``message/recall`` and ``message/update_template_card``."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom.call import Call
from wechat_bridge.simulators.wecom.codes import ApiError
from wechat_bridge.simulators.wecom.content import INTERACTIVE_CARDS, seen_content
from wechat_bridge.simulators.wecom.limits import DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS
from wechat_bridge.simulators.wecom.screen import Shown

MOST_RECIPIENTS = 1_000


@dataclass(frozen=True)
class Recipients:
    """Whom a message reaches, and who of those named does not exist or is outside the visible range."""

    users: list[str]
    invalid_users: list[str]
    invalid_parties: str
    invalid_tags: str

    def as_json(self) -> Json:
        """The fields of the answer; user ids come back in lower case."""
        invalid_users = "|".join(user.lower() for user in self.invalid_users)
        return {"invaliduser": invalid_users, "invalidparty": self.invalid_parties, "invalidtag": self.invalid_tags}


def send(call: Call) -> Json:
    """``POST message/send``. Accepting is not showing: `Call.outcomes` tells what became of it for each person."""
    world, app, body, now = call.world, call.app, call.json(), call.world.now()
    _check_agent(call, body)
    text, content = seen_content(
        body,
        world.options.over_long_text,
        lambda kind, media_id: world.media.find(app.corp_id, media_id, now, kind),
    )
    recipients = recipients_of(call, body)
    checks = body.get("enable_duplicate_check") == 1
    if checks and (earlier := world.sent.earlier(app.key, call.data, now)):
        call.outcomes |= dict.fromkeys(recipients.users, "duplicate")
        return earlier
    _count_for_the_day(call, len(recipients.users))
    answer = {**recipients.as_json(), "msgid": world.sent.add(app.key, now)}
    if content.get("card_type") in INTERACTIVE_CARDS:
        answer["response_code"] = world.sent.new_response_code(app.key, now)
    if checks:
        world.sent.remember(app.key, call.data, body.get("duplicate_check_interval"), answer, now)
    for user in recipients.users:
        shown = Shown(now, app.key, user, "send", str(body["msgtype"]), text, content, answer["msgid"])
        call.outcomes[user] = _show(call, shown)
    return answer


def recall(call: Call) -> Json:
    """``POST message/recall``: within 24 hours, by the app that sent it."""
    msgid = call.world.sent.check_recall(call.app.key, call.json().get("msgid"), call.world.now())
    call.world.screen.recall(msgid)
    return {}


def update_template_card(call: Call) -> Json:
    """``POST message/update_template_card``: once per response code, within 72 hours."""
    body = call.json()
    _check_agent(call, body)
    call.world.sent.use_response_code(call.app.key, body.get("response_code"), call.world.now())
    return {"invaliduser": ""}


def recipients_of(call: Call, body: Json) -> Recipients:
    """Whom a message is for; ``@all`` reaches the visible range that was set.

    Raises:
        ApiError: 82001 nobody is named, 40035 too many are, 81013 nobody named can be reached.
    """
    named = [user for user in str(body.get("touser") or "").split("|") if user]
    parties, tags = str(body.get("toparty") or ""), str(body.get("totag") or "")
    if not (named or parties or tags):
        raise ApiError(82001)
    if len(named) > MOST_RECIPIENTS:
        raise ApiError(40035, "touser")
    users = list(call.app.visible_users or ()) if named == ["@all"] else [u for u in named if call.app.sees(u)]
    invalid = [] if named == ["@all"] else [user for user in named if not call.app.sees(user)]
    if not users:
        raise ApiError(81013)
    # The simulated corp has no departments and no tags, so that whoever names one reaches nobody by it.
    return Recipients(list(dict.fromkeys(users)), invalid, parties, tags)


def _check_agent(call: Call, body: Json) -> None:
    agent_id = str(body.get("agentid", ""))
    if agent_id == str(call.app.agent_id):
        return
    others = {str(app.agent_id) for app in call.world.apps_of(call.app.corp_id)}
    raise ApiError(301002 if agent_id in others else 40056)


def _count_for_the_day(call: Call, persons: int) -> None:
    limit = call.world.options.app_per_day
    for _ in range(persons):
        if call.world.limits.exceeded(("day", call.app.key), limit, DAY_SECONDS, call.world.now()):
            raise ApiError(45009)


def _show(call: Call, shown: Shown) -> str:
    limits, options = call.world.limits, call.world.options
    for window, limit, seconds in (
        ("minute", options.user_per_minute, MINUTE_SECONDS),
        ("hour", options.user_per_hour, HOUR_SECONDS),
    ):
        if limits.exceeded((window, shown.app, shown.user_id.lower()), limit, seconds, shown.at):
            return f"discarded: more than {limit} in a {window}"
    call.world.screen.show(shown)
    return "shown"
