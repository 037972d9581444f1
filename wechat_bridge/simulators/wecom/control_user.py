"""Control commands of people: write to an app, see what comes back, put and get media."""

from __future__ import annotations

import base64
import binascii
import random
from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from wechat_bridge.simulators.control_errors import ControlError
from wechat_bridge.simulators.json_types import Json
from wechat_bridge.simulators.wecom import inbound
from wechat_bridge.simulators.wecom.backstage import Backstage
from wechat_bridge.simulators.wecom.callback import Callback, Knobs
from wechat_bridge.simulators.wecom.codes import ApiError


def write(
    stage: Backstage,
    app: str,
    user_id: str,
    messages: list[Json],
    order: Literal["in_turn", "at_once", "reversed", "shuffled"] = "in_turn",
    knobs: Knobs | None = None,
    omit: list[str] | None = None,
    spacing_seconds: NonNegativeFloat = 0.0,
) -> list[Json]:
    """Send messages or events to an app, each an object of XML fields over the common ones; `omit` leaves some out.

    `in_turn`: the next one leaves when the one before is over; `reversed` and `shuffled` too, in another order.
    `at_once`: none waits for another; each leaves `spacing_seconds` after the one before. Returns
    ``{"callback_id", "msg_id"}`` each, in the order given, at once; see `callbacks` for what became of them.
    """
    found = stage.app(app)
    fields = [inbound.message_fields(stage.world, found, user_id, message, omit or ()) for message in messages]
    sent = [Callback(found.key, one, later(knobs or Knobs(), at * spacing_seconds)) for at, one in enumerate(fields)]
    leaving = list(sent)
    if order == "reversed":
        leaving.reverse()
    if order == "shuffled":
        random.shuffle(leaving)
    stage.sender.start(*leaving, in_turn=order != "at_once")
    return [{"callback_id": one.callback_id, "msg_id": str(one.fields.get("MsgId", ""))} for one in sent]


def later(knobs: Knobs, seconds: float) -> Knobs:
    """The same knobs with a longer delay."""
    return knobs.model_copy(update={"delay_seconds": knobs.delay_seconds + seconds})


def repeat(stage: Backstage, callback_id: str, knobs: Knobs | None = None) -> str:
    """Send the same message or event again; returns the id of the new callback."""
    for callback in stage.world.callbacks:
        if callback.callback_id == callback_id:
            again = Callback(callback.app, callback.fields, knobs or Knobs())
            stage.sender.start(again)
            return again.callback_id
    raise ControlError(f"there is no callback {callback_id!r}")


async def callbacks(
    stage: Backstage,
    app: str = "",
    after: NonNegativeInt = 0,
    count: NonNegativeInt = 0,
    timeout_seconds: NonNegativeFloat = 0.0,
) -> list[Json]:
    """The callbacks to an app beyond the first `after`, once at least `count` of them are over; may wait."""

    def rows() -> list[Callback]:
        return [callback for callback in stage.world.callbacks if app in {"", callback.app}][after:]

    await stage.world.callbacks_changed.wait_until(lambda: sum(row.over for row in rows()) >= count, timeout_seconds)
    return [row.as_json() for row in rows()]


async def deliveries(
    stage: Backstage,
    user_id: str = "",
    app: str = "",
    after: NonNegativeInt = 0,
    count: NonNegativeInt = 0,
    timeout_seconds: NonNegativeFloat = 0.0,
) -> list[Json]:
    """What a person really sees (everyone, without id) beyond the first `after`; waits until there are `count`."""
    screen = stage.world.screen
    await screen.changed.wait_until(lambda: len(screen.seen(user_id, app)) >= after + count, timeout_seconds)
    return [shown.as_json() for shown in screen.seen(user_id, app)[after:]]


def put_media(stage: Backstage, app: str, kind: str, data_base64: str, filename: str = "file.bin") -> Json:
    """Put a file into the corp's media as a person's client does; returns the fields of a message that carries it."""
    try:
        data = base64.b64decode(data_base64, validate=True)
    except binascii.Error as error:
        raise ControlError(f"data_base64 is not base64: {error}") from error
    world, corp_id = stage.world, stage.app(app).corp_id
    media = world.media.keep(corp_id, kind, data, filename, "application/octet-stream", world.now())
    return inbound.media_fields(world, media)


def get_media(stage: Backstage, app: str, media_id: str) -> str:
    """The bytes of a file as base64."""
    try:
        media = stage.world.media.find(stage.app(app).corp_id, media_id, stage.world.now())
    except ApiError as error:
        raise ControlError(f"there is no file {media_id!r}, or no longer") from error
    return base64.b64encode(media.data).decode("ascii")


COMMANDS = (write, repeat, callbacks, deliveries, put_media, get_media)
