"""Markdown that WeChat renders stays as it is, the rest becomes plain, and no word and no code is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wechat_bridge.model.markdown import for_wechat

LONG = 200_000
MOST_SECONDS = 20.0  # of processor time; what grows with the square of the length takes minutes

STAYS = [
    "", "你好", "plain text, 5 < 6 & 7 > 3", "line end  \r\nnext\n\n\n", "  \t\n", "**粗体** and **bold**", "__粗体__",
    "**“粗体”**后面", "*English* and _also_ here", "***both*** and ___both___", "# 一\n## 二\n### 三\n#### 四",
    "#####没有空格", "####### 七个", "#####", "##### ---", "##### ```sh",
    "- 一\n* 二\n+ 三\n  1. 四\n  2) 五\n- [ ] 待办\n- [x] 完成", "> 引用\n>> 再引用", "---\n***\n___\n* * *",
    "| 名 | 值 |\n|:--|--:|\n| a\\|b | `*中*` |", "~~删除~~", "`*中* [a](b)` and ``a ` *中*``",
    "`一行 *中*\n两行 *中*` 完", "段\n\n    *缩进的代码* [a](b)\n\n    <br>\n",
    "```python\nx = a*b*中  # [a](b) <br> <!-- c -->\n##### y\n```", "~~~\n*中*\n```\n*中*\n~~~",
    "````md\n```\n*中*\n```\n````", "> ```\n> *中*\n> ```", "- ```py\n  *中*\n  ```",
    "1. 步骤\n\n   ```sh\n   ls *中*\n   ```", "```\n没有结束 *中* [a](b)", "2 * 3 * 数 * 4", "2*数量3*折扣", "* 项",
    "报告_最终_v2.docx", "snake_case_name 中文 other_name", "价格*不含税\n*以实际为准", "*没有结束", "没有开始*",
    "_没有结束", "***没有结束", "*换行\n结束*", "[没有地址]", "[空的]()", "[没有结束](http://a", "![没有结束](",
    "![alt][id]", "a<b, c>d", "<b>粗</b>", "<div class=\"x\">", "std::vector<int>", "<std::string>",
    "<john@example.com>", "<!-- 没有结束", "<br", "[文档][1]\n\n[1]: https://example.com/a_b_c \"标题\"",
    "脚注[^1]\n\n[^1]: 说明", "\\*不是斜体\\*", "\\_不是\\_ \\`不是\\` \\[不是\\](a)", "1\\. 不是列表", "\\# 不是标题",
    "\\- 不是列表", "\\\\*", "a\\|b", "C:\\.ssh\\.git", "[中](http://example.com/*b*)",
    "https://example.com/a_b_c?x=_中_",
]  # fmt: skip

SIMPLIFIED = [
    ("这是*重点*内容", "这是重点内容"), ("*斜体*", "斜体"), ("请 _注意_ 时间", "请 注意 时间"),
    ("*日本語* *한국어*", "日本語 한국어"), ("*English 和中文*", "English 和中文"),
    ("*English* *中文*", "*English* 中文"), ("*“斜体”*后面", "“斜体”后面"), ("***粗斜***", "**粗斜**"),
    ("___粗斜___", "__粗斜__"), ("**粗*斜*体**", "**粗斜体**"), ("*斜**粗**体*", "斜**粗**体"),
    ("***粗** 斜*", "**粗** 斜"), ("* 项 *中*", "* 项 中"), ("*看 `*` 中*", "看 `*` 中"),
    ("`没有结束 *中*", "`没有结束 中"), ("| *中* | [a](b) |\n|---|---|", "| 中 | a (b) |\n|---|---|"),
    ("> *中*", "> 中"), ("# *中*", "# 中"), ("```\n*中*\n```\n*中*", "```\n*中*\n```\n中"),
    ("> ```\n> *中*\n*中*", "> ```\n> *中*\n中"), ("- 一\n\n    *二*", "- 一\n\n    二"),
    ("##### 标题\n正文", "标题\n正文"), ("前\n###### 标题 ######\r\n后", "前\n标题\r\n后"),
    ("> ##### Title", "> Title"), ("- ##### a", "- a"), ("##### ##### 两次", "两次"),
    ("##### **粗** *斜*", "**粗** 斜"), ("##### 1. 步骤", "1. 步骤"),
    ("看![小猫](http://example.com/cat.png)吧", "看[小猫]吧"), ("![](a.png)字", "字"), ("![a](b.png \"t\")", "[a]"),
    ("![图](我的 图.png)", "[图]"), ("![a](b)(c)", "[a] (c)"),
    ("[![构建](i.png)](https://example.com)", "[构建] (https://example.com)"),
    ("见[文档](https://example.com/a_b)。", "见文档 (https://example.com/a_b)。"), ("[text](url)", "text (url)"),
    ("[维基](https://example.org/A_(b))", "维基 (https://example.org/A_(b))"), ("[a](<my file.md>)", "a (my file.md)"),
    ("[a](http://b.c \"标题\")", "a (http://b.c \"标题\")"), ("[**粗** *斜*](u)", "**粗** 斜 (u)"),
    ("[两\n行](u)", "两\n行 (u)"), ("[https://example.com](https://example.com)", "https://example.com"),
    ("[](https://example.com)", "https://example.com"), ("[a@example.com](mailto:a@example.com)", "a@example.com"),
    ("[a [b](c) d](e)", "a b (c) d (e)"), ("<https://example.com/a_b>", "https://example.com/a_b"),
    ("见<https://example.com>了解", "见 https://example.com 了解"),
    ("(<mailto:a@example.com>)", "(mailto:a@example.com)"), ("一<br>二<BR/>三<br />四", "一\n二\n三\n四"),
    ("一<br>\n二", "一\n二"), ("| 一<br>二 | 三 |", "| 一 二 | 三 |"), ("> 一<br>二", "> 一\n> 二"),
    ("前<!-- 说明 -->后", "前后"), ("<!-- 两\n行 -->后", "后"), ("<!---->后<!-->完", "后完"),
    ("好的\\! Done\\.", "好的! Done."), ("3\\.14 v1\\.2 2026\\-11\\-30", "3.14 v1.2 2026-11-30"),
    ("C\\# 语言", "C# 语言"), ("*中<!-- -->*", "中"), ("<!-- a <!-- -->b", "b"), ("[x]![](u)(c)", "x (c)"),
]  # fmt: skip

HOSTILE = [
    "*", "[", "`", "_", "<", "![", "](", "[](", "[](a ", "[](<", "[](b \"", "![](u)", "[a](b)", "<!--", "<!-- -->",
    "<br>", "<http://a", "a*", "*a_", "*中", "中*", "*a**b", "`a``b", "\\", "\n", "> ", "> \n", "- ", "1. ", "##### ",
    "```\n", "| ", " ", "\t",
]  # fmt: skip
NESTED = ["![" * 50_000 + "](u)" * 25_000, "[" * 50_000 + "](u)" * 37_500, "*中 " * 33_000 + "中* " * 33_000]

words = st.sampled_from(["中文", "重点", "word", "x1", "日本", "a_b", "5"])
marks = st.sampled_from([
    "*", "**", "***", "_", "__", "`", "``", "[", "]", "](", "(", ")", "!", "![", "<", ">", "<!--", "-->", "<br>", "\\",
    "#", "##### ", "- ", "> ", "| ", "1. ", "```", "~~~", "http://", " ", "    ", "\n", "\n\n", "\r\n", "。", "“", "\"",
    ".", ":", "\ud800", "\u3000",
])  # fmt: skip
tangles = st.lists(words | marks, max_size=40).map("".join)
texts = st.text(st.characters(exclude_categories=()))
code_lines = st.lists(
    st.sampled_from(["x = a*中*b", "", "    [a](b)", "<br>", "##### 中", "*中* \\! <!-- a -->", "| *中* |"]), max_size=9
)
prose = st.lists(
    st.sampled_from(["*中*", "**粗**", "[a](b)", "![图](c)", "##### 题", "字", "_斜_", "- 项", "一<br>二", "`c`"]),
    max_size=9,
).map("\n".join)


def letters(text: str) -> str:
    """What words consist of."""
    return "".join(filter(str.isalnum, text))


@pytest.mark.parametrize("text", STAYS)
def test_what_wechat_renders_and_what_is_not_markdown_stays(text: str) -> None:
    assert for_wechat(text) == text


@pytest.mark.parametrize(("text", "simple"), SIMPLIFIED)
def test_what_wechat_does_not_render_becomes_plain(text: str, simple: str) -> None:
    assert for_wechat(text) == simple


@pytest.mark.parametrize(("text", "simple"), SIMPLIFIED)
def test_before_and_behind_other_paragraphs_it_is_the_same(text: str, simple: str) -> None:
    assert for_wechat(f"前 **粗**\n\n{text}\n\n后 *so*") == f"前 **粗**\n\n{simple}\n\n后 *so*"


def test_what_does_not_come_to_rest_stays_as_it_is() -> None:
    text = "<!" * 9 + "<!-- a -->" + "-- a -->" * 9
    assert for_wechat(f"*中* {text}") == f"*中* {text}"


@settings(deadline=None)
@given(texts | tangles)
def test_twice_is_the_same_as_once_and_nothing_gets_longer(text: str) -> None:
    simple = for_wechat(text)
    assert for_wechat(simple) == simple
    assert len(simple) <= len(text)


@settings(deadline=None)
@given(texts | tangles)
def test_no_word_is_lost_but_in_addresses_of_images_and_comments(text: str) -> None:
    plain = text.replace("](", "] (").replace("<!--", "").replace("<br>", "")
    assert letters(for_wechat(plain)) == letters(plain)


@settings(deadline=None)
@given(st.lists(st.tuples(words, words), min_size=1), st.sampled_from(["\n", " ", "，", "\n\n", "\n- "]))
def test_texts_and_addresses_of_links_are_all_there_in_order(links: list[tuple[str, str]], between: str) -> None:
    text = between.join(f"[{shown}](https://{address})" for shown, address in links)
    assert for_wechat(text) == between.join(f"{shown} (https://{address})" for shown, address in links)


@settings(deadline=None, max_examples=60)
@given(prose, code_lines, prose, st.sampled_from(["```", "```python", "~~~", "````md", "  ```sh"]))
def test_blocks_of_code_are_never_touched(before: str, lines: list[str], after: str, opener: str) -> None:
    block = "\n".join([opener, *lines, "".join(filter("`~".__contains__, opener))])
    assert for_wechat(f"{before}\n{block}\n{after}") == f"{for_wechat(before)}\n{block}\n{for_wechat(after)}"


@settings(deadline=None, max_examples=60)
@given(prose, st.text("*中[](b)<>!\\_ #", min_size=1), st.sampled_from(["`", "``", "```"]))
def test_code_within_a_line_is_never_touched(before: str, code: str, ticks: str) -> None:
    span = f"{ticks}{code}{ticks}"
    assert for_wechat(f"{before}\n\n字 {span} *中*") == f"{for_wechat(before)}\n\n字 {span} 中"


@pytest.mark.parametrize("text", [*(part * (LONG // len(part)) for part in HOSTILE), *NESTED], ids=[*HOSTILE, *"123"])
def test_hostile_texts_take_no_longer_than_others(text: str) -> None:
    started = time.process_time()
    simple = for_wechat(text)
    assert time.process_time() - started < MOST_SECONDS
    assert len(simple) <= len(text)
