"""Which places of a configuration hold secrets: those are sealed where it is stored, and masked where it is shown."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import SecretStr

from wechat_bridge.errors import SettingsError
from wechat_bridge.live import InForce
from wechat_bridge.model.configuration import Document, Path, find, leaves, with_value, written
from wechat_bridge.observe.secrets import MASK, is_secret, masked_text


def secret_places(document: Document, in_force: InForce) -> tuple[Path, ...]:
    """Return where a document holds secrets: by the kind of a field, by its name, and by the look of a text."""
    kinds = {path for path, value in leaves(_models(document, in_force)) if isinstance(value, SecretStr)}
    texts = [(path, value) for path, value in leaves(document) if isinstance(value, str) and value]
    return tuple(path for path, text in texts if path in kinds or is_secret(str(path[-1])) or masked_text(text) != text)


def shown(document: Document, secrets: Iterable[Path]) -> Document:
    """Return a document as people may see it."""
    for path in secrets:
        document = with_value(document, path, MASK)
    return document


def with_kept_secrets(document: Document, before: Document, secrets: tuple[Path, ...]) -> Document:
    """Return a document in which what is masked is what it was before.

    Within a list an item keeps its secrets while all that is shown of it is as it was, wherever it stands now: no
    secret gets to another place by a shift. Raises SettingsError with a line for each mask that stands for nothing.
    """
    faults, found, seen = [], document, shown(before, secrets)
    for path in [path for path, value in leaves(document) if value == MASK]:
        source = next((each for each in secrets if _is_same_place(path, document, each, seen)), None)
        if source is None:
            faults.append(f"{written(path)}: {MASK} stands for a secret that is not known at this place: write it")
        else:
            found = with_value(found, path, find(before, source))
    if faults:
        raise SettingsError("\n".join(faults))
    return found


def _is_same_place(path: Path, document: Document, other: Path, before: Document) -> bool:
    """Whether two documents mean the same thing by two places."""
    if _shape(path) != _shape(other):
        return False
    item = 1 + max((place for place, name in enumerate(path) if isinstance(name, int)), default=-1)
    return item == 0 or bool(find(document, path[:item]) == find(before, other[:item]))


def _shape(path: Path) -> list[str]:
    return ["" if isinstance(name, int) else name for name in path]


def _models(document: Document, in_force: InForce) -> Document:
    sections = document.get("settings", {})
    settings = in_force.settings.model_dump(include=set(sections))
    return {"settings": settings, "events": in_force.rules.model_dump(by_alias=True)}
