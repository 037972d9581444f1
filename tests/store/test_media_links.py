"""Links to media: for one piece, for a time, and nobody can make one without the keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import SecretStr

from tests.support.world import KEY
from wechat_bridge.errors import SettingsError
from wechat_bridge.model.channel import Account
from wechat_bridge.model.media import Media, MediaState
from wechat_bridge.model.message import ItemKind
from wechat_bridge.store.media_links import MediaLinks, OpenedLink
from wechat_bridge.store.vault import Vault, new_key

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BASE = "https://bridge.example.com/wechat"
ID = "in:shop:7461203398120011000:0"


def links(*keys: str, base_url: str = BASE) -> MediaLinks:
    """Links that last for 10 minutes."""
    return MediaLinks([SecretStr(key) for key in keys or (KEY,)], base_url, 600)


def media(media_id: str = ID, label: str = "", mime: str = "image/png") -> Media:
    return Media(
        id=media_id,
        turn_id="t",
        file_id="f",
        kind=ItemKind.FILE,
        label=label,
        mime=mime,
        state=MediaState.STORED,
        at=NOW,
    )


def token(link: str) -> str:
    """The token of a link."""
    return urlsplit(link).path.rpartition("/")[2]


def made(media_id: str = ID, at: datetime = NOW) -> str:
    return token(links().link_to(media(media_id), at))


def test_a_link_leads_to_its_medium_on_every_host_with_the_keys() -> None:
    link = links().link_to(media(), NOW)
    assert link.startswith(f"{BASE}/media/")
    assert links().opened(token(link), NOW) == OpenedLink(ID, is_expired=False)


def test_a_link_says_nothing_about_who_sent_what() -> None:
    link = links().link_to(media(label="private letter.pdf", mime="application/pdf"), NOW)
    assert not [word for word in ("shop", "7461203398120011000", "private") if word in link]


@pytest.mark.parametrize(
    ("label", "mime", "extension"),
    [
        ("", "image/jpeg", "jpg"), ("plan.PDF", "application/pdf", "pdf"), ("notes.md", "text/markdown", "md"),
        ("x.pdf", "image/png", "png"), ("a.d&c=1", "application/octet-stream", "bin"), ("a", "what/ever", "bin"),
    ],
)  # fmt: skip
def test_the_address_ends_in_a_name_by_which_fastgpt_tells_the_type(label: str, mime: str, extension: str) -> None:
    query = urlsplit(links().link_to(media(label=label, mime=mime), NOW)).query
    assert parse_qs(query) == {"filename": [f"file.{extension}"]}


@pytest.mark.parametrize(("seconds", "is_expired"), [(0, False), (600, False), (601, True), (86_400, True)])
def test_a_link_lasts_for_its_time(seconds: int, is_expired: bool) -> None:
    assert links().opened(made(), NOW + timedelta(seconds=seconds)) == OpenedLink(ID, is_expired)


def test_two_links_to_one_medium_differ_and_each_leads_to_its_own() -> None:
    first, second, other = made(), made(), made("in:shop:2:0")
    assert len({first, second, other}) == 3
    assert [found.media_id for each in (first, second, other) if (found := links().opened(each, NOW))] == [
        ID, ID, "in:shop:2:0",
    ]  # fmt: skip


def test_no_letter_of_a_token_can_be_changed() -> None:
    whole = made()
    for position in range(len(whole.rstrip("=")) - 1):
        letter = "A" if whole[position] != "A" else "B"
        assert links().opened(whole[:position] + letter + whole[position + 1 :], NOW) is None, position


@pytest.mark.parametrize("forged", ["", "x", "é", "gAAAAA", "../../etc/passwd", ID, "A" * 5_000, "\ud800", "a b="])
def test_what_was_not_made_here_opens_nothing(forged: str) -> None:
    assert links().opened(forged, NOW) is None
    assert links().opened(made() + forged, NOW) is None or not forged


def test_a_link_of_another_installation_opens_nothing() -> None:
    assert links(new_key()).opened(made(), NOW) is None


def test_stored_credentials_are_no_link() -> None:
    sealed = Vault([SecretStr(KEY)]).seal(Account(token="t", account_id="a", base_url="https://example.test"))
    assert links().opened(sealed, NOW) is None


def test_after_a_rotation_old_links_still_open_and_new_ones_are_made_with_the_new_key() -> None:
    new = new_key()
    both = links(new, KEY)
    assert both.opened(made(), NOW) == OpenedLink(ID, is_expired=False)
    assert links(new).opened(token(both.link_to(media(), NOW)), NOW) == OpenedLink(ID, is_expired=False)


@pytest.mark.parametrize(
    ("keys", "base_url", "missing"),
    [
        ([KEY], "", "PUBLIC_BASE_URL"),
        ([], BASE, "WECHAT_BRIDGE_SECRET_KEYS"),
        ([], "", "PUBLIC_BASE_URL and WECHAT_BRIDGE_SECRET_KEYS"),
        ([KEY], BASE, ""),
    ],
)
def test_without_an_address_or_a_key_there_are_no_links_and_it_says_what_to_set(
    keys: list[str], base_url: str, missing: str
) -> None:
    found = MediaLinks([SecretStr(key) for key in keys], base_url, 600)
    assert bool(found.link_to(media(), NOW)) is not bool(missing)
    assert found.missing == missing
    if not keys:
        assert found.opened(made(), NOW) is None


def test_a_key_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="32 bytes"):
        links("short")
