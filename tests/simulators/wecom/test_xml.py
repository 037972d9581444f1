from __future__ import annotations

from typing import Any

import pytest

from wechat_bridge.simulators.wecom.xml import from_xml, to_xml


@pytest.mark.parametrize("text", ["你好😀", "a ]]> b", "]]>]]>", "<xml>&amp;</xml>", "two\nlines", ""])
def test_any_text_comes_back_as_it_was(text: str) -> None:
    assert from_xml(to_xml({"Content": text})) == {"Content": text}


def test_texts_are_cdata_numbers_are_bare_and_what_is_none_is_left_out() -> None:
    written = to_xml({"A": "x", "MsgId": 7459035031717794887, "B": None})
    assert written == "<xml><A><![CDATA[x]]></A><MsgId>7459035031717794887</MsgId></xml>"


def test_objects_are_nested_and_lists_are_repeated_elements() -> None:
    fields: dict[str, Any] = {
        "SendPicsInfo": {"Count": "2", "PicList": {"item": [{"PicMd5Sum": "a"}, {"PicMd5Sum": "b"}]}}
    }
    assert from_xml(to_xml(fields)) == fields
