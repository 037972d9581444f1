"""Access tokens: the same while valid, ended early, rotated, and refused to who does not know the secret."""

from __future__ import annotations

import pytest

from wechat_bridge.simulators.wecom import WecomControl

from .conftest import USER, Api


def test_the_token_stays_the_same_while_it_is_valid_and_is_another_afterwards(control: WecomControl, api: Api) -> None:
    first = api.gettoken()
    control.advance_clock(7_000)
    again = api.gettoken()
    assert again["access_token"] == first["access_token"]
    assert (first["expires_in"], again["expires_in"]) == (7_200, pytest.approx(200, abs=5))
    control.advance_clock(201)
    assert api.send("hi", token=first["access_token"])["errcode"] == 42001
    assert api.gettoken()["access_token"] != first["access_token"]


@pytest.mark.parametrize("errcode", [40014, 42001])
def test_a_token_can_be_ended_before_its_time(control: WecomControl, api: Api, errcode: int) -> None:
    token = api.token()
    assert control.expire_token(api.key, errcode) is True
    assert api.send("hi", token=token)["errcode"] == errcode
    assert api.send("hi", token=api.token())["errcode"] == 0


def test_with_rotation_a_new_token_ends_the_old_one(control: WecomControl, api: Api) -> None:
    control.set_options(token_renewal="rotate")
    old, new = api.token(), api.token()
    assert api.send("hi", token=old)["errcode"] == 40014
    assert api.send("hi", token=new)["errcode"] == 0


def test_a_call_without_token_or_with_an_unknown_one_is_refused(api: Api) -> None:
    assert api.send("hi", token="")["errcode"] == 41001
    assert api.send("hi", token="made up")["errcode"] == 40014


def test_unknown_corps_and_secrets_of_others_are_told_apart(control: WecomControl, api: Api) -> None:
    other = control.create_app()
    assert api.gettoken(corpid="wwUNKNOWN")["errcode"] == 40013
    assert api.gettoken(corpsecret=other["secret"])["errcode"] == 40091
    assert api.gettoken(corpsecret="wrong")["errcode"] == 40001


def test_a_disabled_app_gets_no_token_and_its_token_is_of_no_use(control: WecomControl, api: Api) -> None:
    token = api.token()
    control.set_app(api.key, enabled=False)
    assert api.gettoken()["errcode"] == 40001
    assert api.send("hi", token=token)["errcode"] == 50003


def test_five_wrong_secrets_ban_the_address_for_an_hour_even_for_the_right_one(control: WecomControl, api: Api) -> None:
    assert [api.gettoken(corpsecret="wrong")["errcode"] for _ in range(6)] == [40001] * 5 + [45009]
    assert api.gettoken()["errcode"] == 45009
    control.advance_clock(3_601)
    assert api.gettoken()["errcode"] == 0


def test_the_hourly_limit_of_gettoken_blocks_for_an_hour(control: WecomControl, api: Api) -> None:
    control.set_options(gettoken_per_hour=2)
    assert [api.gettoken()["errcode"] for _ in range(3)] == [0, 0, 45009]


def test_an_address_that_is_not_trusted_is_named_in_the_refusal(control: WecomControl, api: Api) -> None:
    control.set_app(api.key, trusted_ips=["192.0.2.1"])
    control.set_options(source_ip="198.51.100.7")
    refused = api.send("hi")
    assert refused["errcode"] == 60020
    assert "from ip: 198.51.100.7" in refused["errmsg"]
    assert "hint: [" in refused["errmsg"]
    assert "devtool/query?e=60020" in refused["errmsg"]
    assert control.deliveries(USER) == []
    control.set_app(api.key, trusted_ips=["198.51.100.7"])
    assert api.send("hi")["errcode"] == 0


def test_behind_a_fixed_egress_proxy_the_address_of_the_proxy_counts(control: WecomControl, api: Api) -> None:
    control.set_app(api.key, trusted_ips=["198.51.100.7"])
    assert api.read(api.get("getcallbackip"))["errcode"] == 60020
    assert api.read(api.get("getcallbackip", {"X-Forwarded-For": "198.51.100.7"}))["errcode"] == 0


def test_the_record_of_calls_holds_neither_secrets_nor_tokens(control: WecomControl, api: Api) -> None:
    token = api.token()
    api.send("hi", token=token)
    rows = control.calls(count=2)
    assert [row["path"] for row in rows] == ["/cgi-bin/gettoken", "/cgi-bin/message/send"]
    assert token not in str(rows)
    assert api.app["secret"] not in str(rows)
