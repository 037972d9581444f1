"""A link of a poll chain while it is being served."""

from __future__ import annotations

from dataclasses import dataclass

from wechat_bridge.model.channel import Account, Channel


@dataclass
class Link:
    """A link being served: the channel as it was read when the link was taken, and what moves with each poll."""

    channel: Channel
    account: Account
    cursor: str
    hold_hint_seconds: float | None
    suspect_polls: int
    held_at: float

    @property
    def share_id(self) -> str:
        """The channel's name."""
        return self.channel.id
