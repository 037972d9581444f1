"""The image and the composition: the same processes as the Procfile's, by the same commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from wechat_bridge.local.program import read_procfile

SERVERS = {"redis", "mongo"}


@pytest.fixture(scope="module")
def compose(repository: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((repository / "docker" / "compose.yaml").read_text())
    return content


@pytest.fixture(scope="module")
def procfile(repository: Path) -> dict[str, str]:
    return read_procfile(repository / "Procfile")


@pytest.fixture(scope="module")
def dockerfile(repository: Path) -> list[str]:
    text = (repository / "docker" / "Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_every_process_of_the_procfile_is_a_service_with_the_same_command(
    compose: dict[str, Any], procfile: dict[str, str]
) -> None:
    assert set(compose["services"]) == set(procfile) | SERVERS
    for name, line in procfile.items():
        assert compose["services"][name]["command"] == ["sh", "-c", line.replace("$", "$$")]


def test_every_process_becomes_the_shell_that_started_it_so_that_it_gets_the_signal_to_stop(
    procfile: dict[str, str],
) -> None:
    assert [name for name, line in procfile.items() if not re.search(r"(^|&& )exec [a-z]+ ", line)] == []


def test_processes_wait_for_healthy_servers_and_get_their_whole_grace(
    compose: dict[str, Any], procfile: dict[str, str]
) -> None:
    for name in procfile:
        service = compose["services"][name]
        assert {server: wait["condition"] for server, wait in service["depends_on"].items()} == {
            "redis": "service_healthy",
            "mongo": "service_healthy",
        }
        assert service["stop_grace_period"] == "75s"
        assert service["restart"] == "unless-stopped"


def test_redis_keeps_its_data_and_evicts_nothing(compose: dict[str, Any]) -> None:
    command = compose["services"]["redis"]["command"]
    assert command[command.index("--appendonly") + 1] == "yes"
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"
    assert compose["services"]["redis"]["volumes"] == ["redis:/data"]
    assert compose["services"]["mongo"]["volumes"] == ["mongo:/data/db"]


def test_nothing_is_reachable_from_other_hosts_and_the_servers_not_even_from_this_one(compose: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in compose["services"].items() if "ports" in service}
    assert published == {"web": ["127.0.0.1:8400:8400"], "flower": ["127.0.0.1:5555:5555"]}


def test_secrets_come_from_outside_and_their_absence_is_refused(compose: dict[str, Any]) -> None:
    environment = compose["services"]["poll"]["environment"]
    for name in ("WECHAT_BRIDGE_SECRET_KEYS", "FLOWER_BASIC_AUTH"):
        assert environment[name].startswith(f"${{{name}:?")


def test_the_image_is_slim_pinned_and_the_processes_are_not_root(dockerfile: list[str]) -> None:
    images = [line.split()[1] for line in dockerfile if line.startswith("FROM")]
    assert set(images) == {"python:3.11-slim"}
    users = [line.split()[1] for line in dockerfile if line.startswith("USER")]
    assert users == ["bridge"]
    last_root_step = max(number for number, line in enumerate(dockerfile) if line.startswith("RUN"))
    assert dockerfile.index("USER bridge") > last_root_step


def test_every_installation_of_the_image_is_constrained(dockerfile: list[str]) -> None:
    pip = [line for line in dockerfile if "pip " in line]
    assert len(pip) == 2
    assert [line for line in pip if "constraints.txt" not in line] == []


def test_everything_the_image_copies_is_let_through_and_exists(repository: Path, dockerfile: list[str]) -> None:
    ignore = (repository / "docker" / "Dockerfile.dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in ignore if line.startswith("!")}
    copied = {source for line in dockerfile if line.startswith("COPY") for source in line.split()[1:-1]}
    assert ignore[0] == "*"
    assert copied == allowed
    assert [name for name in copied if not (repository / name).exists()] == []
