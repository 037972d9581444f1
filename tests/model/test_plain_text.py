"""Where a platform shows signs as they are written, an answer reads without the signs of Markdown and loses no word."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wechat_bridge.model.plain_text import for_plain
from wechat_bridge.model.platform import WECOM, WECOM_KF

LONG = 100_000
MOST_SECONDS = 20.0  # of processor time; what grows with the square of the length takes minutes

STAYS = [
    "", "你好", "5 < 6 & 7 > 3", "line end  \r\nnext\n\n", "- 一\n  1. 二\n- [ ] 待办", "> 引用\n>> 再引用", "---",
    "2 * 3 * 数 * 4", "2*数量3*折扣", "snake_case_name __init__.py", "报告_最终_v2.docx",
    "价格*不含税\n*以实际为准",
    "*没有结束", "`没有结束", "#话题 不是标题", "####### 七个", "C:\\.ssh\\git", "\\[x^2\\] \\(y\\)", "a | b",
    "脚注[^1]",
    "https://example.com/a_b_c?x=_中_", "<a href=\"https://example.com\">文档</a>", "好~~再见~~", "```\n```", "**",
]  # fmt: skip

PLAIN = [
    ("**重点**和*注意*", "重点和注意"), ("__in bold__ and _so_ ***both***", "in bold and so both"),
    ("**“粗体”**后面", "“粗体”后面"),
    ("# 一\n## 二 ##\n###### 六", "一\n二\n六"), ("> ## **题** x", "> 题 x"),
    ("运行 `pip *x*` 或 ``a ` b``", "运行 pip *x* 或 a ` b"),
    ("* 一\n+ 二\n  * **三**", "- 一\n- 二\n  - 三"), ("前\n\n***\n\n* * *\n后", "前\n\n---\n\n---\n后"),
    ("| 名 | **值** |\n|:--|--:|\n| a\\|b | `*中*` |\n后", "名 | 值\na|b | *中*\n后"),
    ("看：\n```python\nx = a**b  # **k**\n\n# no heading\n```\n**完**", "看：\nx = a**b  # **k**\n\n# no heading\n完"),
    ("~~~\n```\n~~~", "```\n"), ("```py\n没有结束 **x**", "没有结束 **x**"), ("- ```sh\n  ls *\n  ```", "  ls *\n"),
    ("\\*不是\\* \\_x\\_ 1\\. \\# y", "*不是* _x_ 1\\. # y"), ("**[文档](https://example.com/a_b)**", "文档 (https://example.com/a_b)"),
    ("![图](a.png)<br>后", "[图]\n后"), ("##### 小标题\n正文", "小标题\n正文"),
]  # fmt: skip


@pytest.mark.parametrize("text", STAYS)
def test_what_is_no_markdown_or_reads_well_stays(text: str) -> None:
    assert for_plain(text) == text


@pytest.mark.parametrize(("text", "plain"), PLAIN)
def test_signs_go_and_what_they_stood_around_stays(text: str, plain: str) -> None:
    assert for_plain(text) == plain


@given(st.text(alphabet="ab中 \n*_`#>|-+1.\\[]()~", max_size=60))
def test_no_letter_is_lost_or_changes_its_place(text: str) -> None:
    def letters(of: str) -> str:
        return "".join(letter for letter in of if letter in "b中")

    # Addresses of images go, as everywhere, and with the line of a fence the name of its language.
    if "![" not in text and "```" not in text and "~~~" not in text:
        assert letters(for_plain(text)) == letters(text)


@pytest.mark.parametrize(
    "piece", ["**", "`", "| a ", "\\*", "* ", "# ", "> ", "```\n", "a*b ", "[", "|\n", "* *", "- * "]
)
def test_hostile_texts_take_no_longer_than_others(piece: str) -> None:
    text = piece * (LONG // len(piece))
    began = time.process_time()
    for_plain(text)
    assert time.process_time() - began < MOST_SECONDS


def test_both_kinds_of_wecom_channels_show_plain_texts() -> None:
    assert [platform.written("**b** `c`") for platform in (WECOM, WECOM_KF)] == ["b c", "b c"]
