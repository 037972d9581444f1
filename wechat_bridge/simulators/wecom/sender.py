"""Sending callbacks: up to three deliveries of 5 s each, until one is accepted."""

from __future__ import annotations

import asyncio
import io
import time

import aiohttp

from wechat_bridge.simulators.wecom.app import App
from wechat_bridge.simulators.wecom.callback import Attempt, Callback
from wechat_bridge.simulators.wecom.content import cut_text
from wechat_bridge.simulators.wecom.envelope import Delivery, Freshness, delivery, new_freshness
from wechat_bridge.simulators.wecom.passive import PassiveReplyError, read_passive
from wechat_bridge.simulators.wecom.screen import Shown
from wechat_bridge.simulators.wecom.world import World

CONTENT_TYPE = "text/xml; charset=utf-8"
# Both are taken for "got it"; anything else has to be a passive reply.
ACCEPTANCES = {b"", b"success"}


class CallbackSender:
    """Runs inside the server's event loop and ends with it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._running: set[asyncio.Task[None]] = set()
        self._session: aiohttp.ClientSession | None = None

    def start(self, *callbacks: Callback, in_turn: bool = False) -> None:
        """Send callbacks, all in the same moment or each once the one before is over."""
        self._world.callbacks.extend(callbacks)
        if in_turn:
            self._spawn(callbacks)
        else:
            for callback in callbacks:
                self._spawn((callback,))

    async def cancel(self) -> None:
        """Stop everything that is on its way."""
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def close(self) -> None:
        """Stop, and close the connections."""
        await self.cancel()
        if self._session:
            await self._session.close()

    def session(self) -> aiohttp.ClientSession:
        """The HTTP client; no proxy of the environment and no cookies."""
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _spawn(self, callbacks: tuple[Callback, ...]) -> None:
        task = asyncio.get_running_loop().create_task(self._send_in_turn(callbacks))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _send_in_turn(self, callbacks: tuple[Callback, ...]) -> None:
        for callback in callbacks:
            await self._send(callback)

    async def _send(self, callback: Callback) -> None:
        knobs, app = callback.knobs, self._world.apps[callback.app]
        await asyncio.sleep(knobs.delay_seconds)
        if app.callback_url:
            await self._deliver(app, callback)
        else:
            callback.state = "no_url"
        callback.over = True
        self._world.callbacks_changed.notify()

    async def _deliver(self, app: App, callback: Callback) -> None:
        knobs = callback.knobs
        fresh = new_freshness(knobs.age_seconds)
        duplicates = [self._repeat(app, callback, fresh) for _ in range(knobs.duplicates)]
        if knobs.at_once:
            await asyncio.gather(self._until_accepted(app, callback, fresh), *duplicates)
        else:
            await self._until_accepted(app, callback, fresh)
            for duplicate in duplicates:
                await duplicate

    async def _until_accepted(self, app: App, callback: Callback, fresh: Freshness) -> None:
        options, knobs = self._world.options, callback.knobs
        for number in range(knobs.attempts or options.callback_attempts):
            if number:
                await asyncio.sleep(options.callback_pause_seconds)
            attempt = await self._attempt(app, callback, fresh, lost=number < knobs.drop)
            fresh = self._next(callback, fresh)
            if attempt.accepted:
                callback.state = "accepted"
                return
            if attempt.status and options.callback_retry_on == "no_answer":
                break
        callback.state = "given_up"

    async def _repeat(self, app: App, callback: Callback, fresh: Freshness) -> None:
        await self._attempt(app, callback, self._next(callback, fresh))

    def _next(self, callback: Callback, fresh: Freshness) -> Freshness:
        return fresh if callback.knobs.identical else new_freshness(callback.knobs.age_seconds)

    async def _attempt(self, app: App, callback: Callback, fresh: Freshness, lost: bool = False) -> Attempt:
        attempt = Attempt(len(callback.attempts) + 1, time.time(), nonce=fresh.nonce, timestamp=fresh.timestamp)
        callback.attempts.append(attempt)
        started = time.monotonic()
        if lost:
            attempt.outcome = "lost on the way"
        else:
            await self._post(app, callback, attempt, delivery(app, callback, fresh))
        attempt.seconds = round(time.monotonic() - started, 4)
        self._world.callbacks_changed.notify()
        return attempt

    async def _post(self, app: App, callback: Callback, attempt: Attempt, sent: Delivery) -> None:
        timeout_seconds = self._world.options.callback_timeout_seconds
        close = {} if self._world.options.callback_keep_alive else {"Connection": "close"}
        try:
            async with self.session().post(
                app.callback_url,
                params=sent.query,
                data=io.BytesIO(sent.body),
                headers={"Content-Type": CONTENT_TYPE, **close},
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=timeout_seconds),
            ) as response:
                attempt.status, body = response.status, await response.read()
        except TimeoutError:
            attempt.outcome = f"no answer within {timeout_seconds:g} s"
        except aiohttp.ClientError as error:
            attempt.outcome = f"no answer: {type(error).__name__}: {error}"
        else:
            self._judge(app, callback, attempt, body.strip())

    def _judge(self, app: App, callback: Callback, attempt: Attempt, body: bytes) -> None:
        if attempt.status != 200:
            attempt.outcome = f"HTTP {attempt.status}"
            return
        if body in ACCEPTANCES:
            attempt.outcome, attempt.accepted = "accepted", True
            return
        user_id = str(callback.fields.get("FromUserName", ""))
        try:
            attempt.shown = read_passive(app, body, user_id)
        except PassiveReplyError as error:
            attempt.outcome = str(error)
            return
        attempt.outcome, attempt.accepted = "accepted with a passive reply", True
        text = cut_text(str(attempt.shown.get("Content", "")), "cut")
        kind = str(attempt.shown["MsgType"])
        self._world.screen.show(Shown(time.time(), app.key, user_id, "passive", kind, text, attempt.shown, ""))
