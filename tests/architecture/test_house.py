"""The rules of the house hold everywhere, and each rule notices who breaks it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture import rules
from tests.architecture.source import Source, sources

PACKAGE = "wechat_bridge"
ALLOWED = {PACKAGE, "tests", "celeryconfig.py", "pyproject.toml", "Procfile", "docker", "docs", "README.md", "LICENSE"}
TEXT = {".py", ".toml", ".md", ".lua", ".yaml", ".yml", ".txt", ".html", ".css", ".js", ".json", ".sh", ""}


@pytest.fixture(scope="module")
def code(repository: Path) -> list[Source]:
    """What ships."""
    return sources(repository, PACKAGE, "celeryconfig.py")


@pytest.fixture(scope="module")
def tests(repository: Path) -> list[Source]:
    """What tests it."""
    return sources(repository, "tests")


@pytest.fixture(scope="module")
def texts(repository: Path) -> dict[Path, str]:
    """Every text file that ships or tests."""
    files = [file for name in ALLOWED for file in _files(repository / name) if file.suffix in TEXT]
    return {file.relative_to(repository): file.read_text() for file in files}


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place] if place.exists() else []
    return [file for file in place.rglob("*") if file.is_file() and "__pycache__" not in file.parts]


def test_functions_are_short(code: list[Source], tests: list[Source]) -> None:
    assert_none(rules.long_functions, code + tests)


def test_files_are_short(code: list[Source], tests: list[Source]) -> None:
    assert_none(rules.long_files, code + tests)


def test_errors_are_caught_by_name(code: list[Source]) -> None:
    assert_none(rules.broad_handlers, code)


def test_members_of_enums_speak_to_the_person_on_call(code: list[Source]) -> None:
    assert_none(rules.silent_members, code)


def test_public_things_say_what_they_mean(code: list[Source]) -> None:
    assert_none(rules.undocumented, code)


def test_every_test_asserts_something(tests: list[Source]) -> None:
    modules = [source for source in tests if source.path.name.startswith("test_")]
    idle = rules.idle_tests(modules, [source for source in tests if source not in modules])
    assert not idle, "\n".join(idle)


def test_redis_keys_are_spelled_in_one_module(code: list[Source]) -> None:
    keys = next(source for source in code if source.path.name == "redis_keys.py")
    prefixes = rules.redis_prefixes(keys)
    assert "poll:lock:" in prefixes
    assert_none(
        lambda source: rules.stray_redis_keys(source, prefixes), [source for source in code if source is not keys]
    )


def test_nothing_is_left_unfinished(texts: dict[Path, str]) -> None:
    found = [line for path, text in texts.items() for line in rules.unfinished(path, text)]
    assert not found, "\n".join(found)


def test_nothing_depends_on_one_machine(texts: dict[Path, str]) -> None:
    found = [line for path, text in texts.items() for line in rules.local_names(path, text)]
    assert not found, "\n".join(found)


def test_the_top_level_holds_what_a_visitor_expects(repository: Path) -> None:
    built = {"__pycache__", "build", "dist"}
    names = {path.name for path in repository.iterdir() if not path.name.startswith(".")}
    assert names - built <= ALLOWED


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (rules.long_functions, "def many() -> None:\n" + "    pass\n" * 40),
        (rules.long_files, "pass\n" * 301),
        (rules.broad_handlers, "try:\n    pass\nexcept Exception:\n    pass"),
        (rules.broad_handlers, "try:\n    pass\nexcept (OSError, BaseException):\n    pass"),
        (rules.broad_handlers, "try:\n    pass\nexcept:\n    pass"),
        (rules.broad_handlers, "with contextlib.suppress(Exception):\n    pass"),
        (rules.silent_members, "class State(StrEnum):\n    DONE = 'done'"),
        (rules.undocumented, '"""Said."""\ndef said() -> None:\n    pass'),
        (rules.undocumented, "x = 1"),
        (lambda source: rules.stray_redis_keys(source, {"poll:lock:"}), "key = f'poll:lock:{name}'"),
        (lambda source: rules.idle_tests([source], []), "def test_it() -> None:\n    helper()\ndef helper(): pass"),
        (lambda source: rules.unfinished(source.path, source.text), "raise NotImplemented" + "Error"),
        (lambda source: rules.unfinished(source.path, source.text), "# TO" + "DO: more"),
        (lambda source: rules.local_names(source.path, source.text), "path = '/wo" + "rk/main'"),
        (lambda source: rules.local_names(source.path, source.text), "# see https://py" + "pi.org/p"),
    ],
)
def test_a_rule_names_the_place_that_breaks_it(rule: Callable[[Source], list[str]], text: str) -> None:
    found = rule(_source(text))
    assert len(found) == 1
    assert found[0].startswith("wechat_bridge/some.py:")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (rules.long_functions, "def few() -> None:\n" + "    pass\n" * 39),
        (rules.broad_handlers, "try:\n    pass\nexcept (OSError, ValueError):\n    pass"),
        (rules.silent_members, "class State(StrEnum):\n    DONE = 'done'  # it is over"),
        (rules.undocumented, '"""Said."""\ndef _own() -> None:\n    pass'),
        (lambda source: rules.idle_tests([source], []), "def test_it() -> None:\n    helper()\ndef helper(): assert 1"),
        (lambda source: rules.local_names(source.path, source.text), "'/workers' '/livez' 'non-root' './work'"),
    ],
)
def test_a_rule_leaves_alone_who_keeps_it(rule: Callable[[Source], list[str]], text: str) -> None:
    assert rule(_source(text)) == []


def _source(text: str) -> Source:
    return Source(Path(PACKAGE) / "some.py", text, ast.parse(text))


def assert_none(rule: Callable[[Source], list[str]], found_in: list[Source]) -> None:
    found = [line for source in found_in for line in rule(source)]
    assert not found, "\n".join(found)
