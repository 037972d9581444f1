"""Are the channels called that wait for their platform to call?"""

from __future__ import annotations

from wechat_bridge.flow.health.check import Check, listed
from wechat_bridge.flow.health.readings import LedgerReading
from wechat_bridge.model.channel import ChannelKind


def last_callback_ages_seconds(ledger: LedgerReading) -> dict[str, float]:
    """Return for each enabled channel that was ever called how long ago that was, to half a minute."""
    return {
        channel.id: ledger.age_seconds([channel.last_callback_at])
        for channel in ledger.channels
        if channel.kind is ChannelKind.WECOM and channel.enabled and channel.last_callback_at is not None
    }


def of_callbacks(ledger: LedgerReading) -> list[Check]:
    """Name the channels that were never called. That nobody writes for a while is no fault; without any, no check."""
    channels = [each.id for each in ledger.channels if each.kind is ChannelKind.WECOM and each.enabled]
    if not channels:
        return []
    ages = last_callback_ages_seconds(ledger)
    if never := [share_id for share_id in channels if share_id not in ages]:
        detail = f"never called: {listed(never)}. Enter https://YOUR-HOST/wecom/SHARE_ID under 接收消息 at WeCom"
        return [Check(name="callbacks", ok=False, detail=detail, warning=True)]
    called = [f"{share_id} {age:.0f} s ago" for share_id, age in sorted(ages.items(), key=lambda each: -each[1])]
    return [Check(name="callbacks", ok=True, detail=f"last called: {listed(called)}", warning=True)]
