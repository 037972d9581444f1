"""docs/events.md is true: it names every field of the rules with its default, and what it shows works."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from pydantic import BaseModel, SecretStr

from wechat_bridge.engines.webhook import SIGNATURE, TIMESTAMP, signed_headers
from wechat_bridge.gateway.adapters.base import ContentType
from wechat_bridge.gateway.check import check
from wechat_bridge.gateway.compiled import compiled
from wechat_bridge.gateway.schemas.registry import Schemas
from wechat_bridge.model.event_rules import EventRules, Rule, Target

REQUIRED = "required"


def fields(model: type[BaseModel] = EventRules, above: str = "") -> Iterator[tuple[str, str]]:
    """Each field of the rules by its path, with its default as the page writes it; ``*`` for names and places."""
    for name, field in model.model_fields.items():
        if name == "kind":  # what the path says already
            continue
        path = above + (field.alias or name)
        below = [each for each in _models(field.annotation) if issubclass(each, Rule)]
        is_many = str(field.annotation).startswith(("dict", "tuple"))
        if is_many or not below:
            yield path, _written(field)
        for each in below:
            kind = f".{get_args(each.model_fields['kind'].annotation)[0]}" if "kind" in each.model_fields else ""
            yield from fields(each, f"{path}{'.*' if is_many else ''}{kind}.")


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _written(field: Any) -> str:
    if field.is_required():
        return REQUIRED
    default = field.get_default(call_default_factory=True)
    if isinstance(default, SecretStr):
        default = default.get_secret_value()
    return f"`{json.dumps(default, ensure_ascii=False)}`"


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    """What operators and developers read."""
    return (repository / "docs" / "events.md").read_text()


def block(page: str, mark: str) -> str:
    """What stands in the block behind a mark."""
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


def run(source: str) -> SimpleNamespace:
    """Run a snippet as a module that is imported, not started."""
    made: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(source, "docs/events.md", "exec"), made)
    return SimpleNamespace(**made)


def test_every_field_of_the_rules_is_in_the_table_with_its_default_and_nothing_else_is(page: str) -> None:
    table = page.split("### Every field", 1)[1].split("\n###", 1)[0]
    told = dict(re.findall(r"^\| `([^`]+)` \| (.+?) \| .+ \|$", table, re.MULTILINE))
    there = dict(fields())
    assert len(there) > 60
    assert told == there
    assert {path.split(".")[3] for path in told if path.startswith("routes.*.target.")} == {
        get_args(each.model_fields["kind"].annotation)[0] for each in _models(Target)
    }


def test_the_rules_of_the_five_minutes_may_be_put_in_force(page: str) -> None:
    rules = EventRules.model_validate(json.loads(block(page, "rules"))["events"])
    check(rules)
    taken = Schemas.from_rules(rules).validate(
        "payment.callback",
        {"eventType": "payment.callback", "orderId": "A1001", "amount": "12.50", "status": "SUCCESS"},
    )
    assert taken["amount"] == "12.50"
    assert {route.target.kind for route in rules.routes} == {"conversation", "http"}


def test_the_receiver_believes_what_the_bridge_signs_and_nothing_else(page: str) -> None:
    shown = run(block(page, "receiver"))
    body = b'{"id": "evt-1"}'
    headers = signed_headers("evt-1", shown.SECRET.decode(), body)
    assert shown.is_genuine(headers, body)
    assert not shown.is_genuine(headers, body + b" ")
    assert not shown.is_genuine(headers | {SIGNATURE: headers[SIGNATURE][:-1] + "."}, body)
    assert not shown.is_genuine(headers | {TIMESTAMP: "1"}, body)
    assert not shown.is_genuine({}, body)


def test_the_layout_reads_the_frame_that_it_describes(page: str) -> None:
    rules = EventRules.model_validate({"binary": json.loads(block(page, "layout"))})
    body = bytes.fromhex("7ffffffffffffffffa8804") + b"roof"
    raw = bytes.fromhex("ac3e01") + len(body).to_bytes(4) + body + zlib.crc32(body).to_bytes(4)
    payload = compiled(rules).adapters.parse(raw, "application/vnd.acme.sensor")
    assert payload == {
        "eventType": "sensor.reading", "sensor": {"id": "9223372036854775807"}, "celsius": -14.0, "place": "roof",
    }  # fmt: skip


def test_the_adapter_of_ones_own_reads_its_format(page: str) -> None:
    adapter = run(block(page, "adapter")).FormAdapter()
    stated = ContentType.parse("application/x-www-form-urlencoded; charset=utf-8")
    assert adapter.can_parse(stated)
    assert not adapter.can_parse(ContentType.parse("application/json"))
    assert adapter.parse(b"eventType=a.b&note=", stated) == {"eventType": "a.b", "note": ""}


def test_every_python_snippet_compiles_and_its_imports_are_there(page: str) -> None:
    snippets = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(snippets) >= 6
    for snippet in snippets:
        compile(snippet, "docs/events.md", "exec")
        imports = [line for line in snippet.splitlines() if re.match(r"(from|import) ", line)]
        run("\n".join(imports))


def test_every_file_that_the_page_links_to_is_there(page: str, repository: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page)
    assert links
    assert [link for link in links if not (repository / "docs" / link).exists()] == []
