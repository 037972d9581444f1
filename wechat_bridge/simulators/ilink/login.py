"""QR login: the codes given out, what became of each, and the endpoints that show it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from wechat_bridge.simulators.ilink.call import Answer, Call, error_answer, json_answer
from wechat_bridge.simulators.ilink.connection import peer_has_left
from wechat_bridge.simulators.ilink.identifiers import new_user_id, opaque
from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wakeup import Wakeup

if TYPE_CHECKING:
    from wechat_bridge.simulators.ilink.world import World

BOT_TYPE = "3"
# Statuses in which a code can still run out.
OPEN_STATUSES = ("wait", "scaned", "need_verifycode", "scaned_but_redirect")


class Login:
    """One QR code. Each status is held back until it differs from the one told last."""

    def __init__(self, qrcode: str, local_tokens: list[str], expires_at: float, verify_attempts: int) -> None:
        self.qrcode = qrcode
        self.local_tokens = local_tokens
        self.expires_at = expires_at
        self.status: Json = {"status": "wait"}
        self.user_id = ""
        self.changed = Wakeup()
        self._told: Json | None = self.status
        self._upcoming: deque[Json] = deque()
        self._verify_code = ""
        self.wrong_codes = 0
        self._verify_attempts = verify_attempts

    def show(self, statuses: list[Json]) -> None:
        """Tell these statuses, one per request, the last one from then on."""
        self._upcoming = deque(statuses[1:])
        self.status = statuses[0]
        self._told = None
        self.changed.notify()

    def ask_for_code(self, verify_code: str) -> None:
        """The user sees this number on the phone and has to type it on our side."""
        self._verify_code = verify_code
        self.show([{"status": "need_verifycode"}])

    def check_code(self, verify_code: str) -> None:
        """Compare a typed number while one is asked for; the right one counts as scanned."""
        if self.status["status"] != "need_verifycode":
            return
        if verify_code == self._verify_code:
            self.show([{"status": "scaned"}])
            return
        self.wrong_codes += 1
        blocked = self.wrong_codes >= self._verify_attempts
        self.show([{"status": "verify_code_blocked" if blocked else "need_verifycode"}])

    def expire_if_due(self, now: float) -> None:
        """Show `expired` once the lifetime of an unfinished code is over."""
        if now >= self.expires_at and self.status["status"] in OPEN_STATUSES:
            self.show([{"status": "expired"}])

    def has_news(self) -> bool:
        """Whether the status differs from the one told last."""
        return self.status is not self._told

    def tell(self) -> Json:
        """The status to answer now; a scripted follower takes its place."""
        status = self._told = self.status
        if self._upcoming:
            self.status = self._upcoming.popleft()
        return status


async def get_bot_qrcode(world: World, call: Call) -> Answer:
    """Give out a new code; older clients ask by GET and without a body."""
    if call.request.query.get("bot_type") != BOT_TYPE:
        return error_answer(2, "bot_type must be 3")
    tokens = call.body.get("local_token_list")
    options = world.options
    expires_at = world.now() + options.qr_lifetime_seconds
    qrcode = opaque(15).replace("/", "_").replace("+", "-")
    login = Login(qrcode, tokens if isinstance(tokens, list) else [], expires_at, options.verify_attempts)
    world.logins[qrcode] = login
    if options.auto_confirm is not None:
        confirm(world, login, new_user_id() if options.auto_confirm == "new" else options.auto_confirm)
    world.logins_changed.notify()
    image = f"https://liteapp.weixin.qq.com/q/{qrcode[:6]}?qrcode={qrcode}&bot_type={BOT_TYPE}"
    return json_answer({"ret": 0, "qrcode": qrcode, "qrcode_img_content": image})


async def get_qrcode_status(world: World, call: Call) -> Answer:
    """Hold until the status of a code changes, and tell it; an unknown code is an expired one."""
    login = world.logins.get(call.request.query.get("qrcode", ""))
    if login is None:
        return json_answer({"ret": 0, "status": "expired"})
    if verify_code := call.request.query.get("verify_code"):
        login.check_code(verify_code)
    remaining_seconds = max(0.0, login.expires_at - world.now())
    await login.changed.wait_until(login.has_news, min(world.options.qr_hold_seconds, remaining_seconds))
    if call.client_closed or peer_has_left(call.request.transport):
        return json_answer({"ret": 0, "status": "wait"})  # nobody reads it, so nothing counts as told
    login.expire_if_due(world.now())
    return json_answer({"ret": 0, **login.tell()})


def confirm(world: World, login: Login, user_id: str, bot_id: str = "") -> Json:
    """Let a WeChat user confirm a code: a new bot, or `binded_redirect` if the asker holds a live one of theirs."""
    login.user_id = user_id
    live = [
        bot for bot in map(world.tokens.get, login.local_tokens) if bot and bot.token_valid and bot.user_id == user_id
    ]
    if live and world.options.binded_redirect:
        status: Json = {"status": "binded_redirect"}
    else:
        bot = world.create_bot(user_id, bot_id)
        status = {
            "status": "confirmed",
            "bot_token": bot.token,
            "ilink_bot_id": bot.bot_id,
            "baseurl": world.base_url,
            "ilink_user_id": user_id,
        }
    login.show([status])
    return status
