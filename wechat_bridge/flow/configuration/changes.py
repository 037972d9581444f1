"""Change the configuration: each change is a new version, judged before it is published and never altered after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from wechat_bridge.errors import ConfigurationRefused, DocumentInvalid, NotConfigured, SettingsError
from wechat_bridge.flow.configuration.check import Judge
from wechat_bridge.flow.configuration.secrets import secret_places, shown, with_kept_secrets
from wechat_bridge.flow.configuration.sections import AT_START
from wechat_bridge.model.configuration import (
    Document,
    Path,
    StoredConfiguration,
    changed,
    find,
    path_of,
    with_value,
    without,
    written,
)
from wechat_bridge.observe.secrets import MASK
from wechat_bridge.store.clock import LedgerClock
from wechat_bridge.store.configuration import ConfigurationStore, closed, new_version


@dataclass(frozen=True)
class Version:
    """A version as people may see it: its secrets are masked. Version 0 is the environment alone.

    ``problem`` says why ``document`` cannot be shown; ``changes`` are the places that it changed.
    """

    number: int
    document: Document
    by: str = ""
    at: datetime | None = None
    note: str = ""
    problem: str = ""
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """One place of a published change; ``old`` and ``new`` are masked, None: there was nothing, or is nothing now."""

    place: str
    old: Any
    new: Any


@dataclass(frozen=True)
class Published:
    """What became of a change; without ``changes`` there was nothing to do and ``number`` is as before."""

    number: int
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class _Opened:
    number: int
    document: Document
    secrets: tuple[Path, ...]


NOTHING = _Opened(0, {}, ())


class Changes:
    """What an operator does to the configuration.

    Every method raises LedgerUnavailable; those that change something raise SettingsError with a line for each fault,
    ConfigurationRefused when another change came first, and NotConfigured when there are secrets but no key.
    """

    def __init__(self, store: ConfigurationStore, clock: LedgerClock, judge: Judge) -> None:
        self._store = store
        self._clock = clock
        self._judge = judge

    def show(self, number: int | None = None) -> Version:
        """Return a version, the newest without a number. Raises ConfigurationRefused when there is none such."""
        number = self._store.newest_number() if number is None else number
        if number == 0:
            return Version(0, {})
        try:
            stored = self._stored(number)
            return _version(stored, shown(closed(stored), stored.sealed))
        except (DocumentInvalid, SettingsError) as error:
            return Version(number, {}, problem=str(error))

    def history(self, most: int) -> list[Version]:
        """Return the newest versions, newest first, with what each changed."""
        newest = self._store.newest_number()
        versions = []
        for number in range(newest, max(newest - most, 0), -1):
            new, old = self._readable(number), self._readable(number - 1)
            are_known = (new.number, old.number) == (number, number - 1)
            changes = _changes(old, new.document, new.secrets) if are_known else ()
            versions.append(replace(self.show(number), changes=tuple(change.place for change in changes)))
        return versions

    def in_force(self) -> Document:
        """Return everything that is in force with the newest version and may change, secrets masked."""
        opened = self._opened(self._store.newest_number())
        found = self._judge.in_force(opened.document, opened.number)
        whole = {
            "settings": found.settings.model_dump(mode="json", include={*AT_START, "engines"}),
            "events": found.rules.model_dump(mode="json", by_alias=True),
        }
        return shown(whole, secret_places(whole, found))

    def apply(self, document: Document, by: str, note: str = "", based_on: int | None = None) -> Published:
        """Publish a whole document. ``based_on``: only where this version is the newest."""
        newest = self._store.newest_number()
        if based_on is not None and based_on != newest:
            raise ConfigurationRefused(f"the newest version is {newest}, not {based_on}: look at it, and decide anew")
        return self._publish(self._readable(newest), newest, document, by, note)

    def set(self, place: str, value: Any, by: str, note: str = "") -> Published:
        """Publish the newest version with one value changed."""
        opened = self._opened(self._store.newest_number())
        path = _path(place, opened.document, {"settings": self._judge.base.model_dump()})
        try:
            document = with_value(opened.document, path, value)
        except LookupError:
            raise ConfigurationRefused(f"{place}: there is no such place in version {opened.number}") from None
        return self._publish(opened, opened.number, document, by, note or f"set {written(path)}")

    def unset(self, place: str, by: str, note: str = "") -> Published:
        """Publish the newest version without one place: what the environment or the default says counts there again."""
        opened = self._opened(self._store.newest_number())
        path = _path(place, opened.document)
        try:
            document = without(opened.document, path)
        except LookupError:
            raise ConfigurationRefused(f"{place}: version {opened.number} says nothing there") from None
        return self._publish(opened, opened.number, document, by, note or f"unset {written(path)}")

    def roll_back(self, number: int, by: str, note: str = "") -> Published:
        """Publish the content of an earlier version as a new one; 0: the environment alone."""
        newest = self._store.newest_number()
        document = self._opened(number).document
        return self._publish(self._readable(newest), newest, document, by, note or f"back to version {number}")

    def _publish(self, before: _Opened, newest: int, document: Document, by: str, note: str) -> Published:
        whole = with_kept_secrets(document, before.document, before.secrets)
        found = self._judge.in_force(whole, newest + 1)
        changes = _changes(before, whole, secret_places(whole, found))
        if not changes and newest == before.number:
            return Published(newest, ())
        text, sealed = self._store.seal(whole, secret_places(whole, found))
        stored = new_version(newest + 1, text, sealed, by=by, at=self._clock.now(), note=note)
        if not self._store.add(stored):
            raise ConfigurationRefused(
                f"version {newest + 1} was published by somebody else at the same time: look at it, and decide anew"
            )
        return Published(newest + 1, changes)

    def _stored(self, number: int) -> StoredConfiguration:
        stored = self._store.get(number)
        if stored is None:
            raise ConfigurationRefused(f"there is no version {number}; `wechat-bridge config history` shows all")
        return stored

    def _opened(self, number: int) -> _Opened:
        if number == 0:
            return NOTHING
        stored = self._stored(number)
        return _Opened(number, self._store.open(stored), stored.sealed)

    def _readable(self, number: int) -> _Opened:
        """Return a version, or nothing where it cannot be read: a whole document may replace it all the same."""
        try:
            return self._opened(number)
        except (DocumentInvalid, NotConfigured, SettingsError):
            return NOTHING


def _version(stored: StoredConfiguration, document: Document) -> Version:
    return Version(stored.number, document, stored.by, stored.at, stored.note)


def _path(place: str, *documents: Document) -> Path:
    try:
        return path_of(place, *documents)
    except ValueError as error:
        raise ConfigurationRefused(f"{error}, as in settings.debounce.idle_seconds") from None


def _changes(before: _Opened, document: Document, secrets: tuple[Path, ...]) -> tuple[Change, ...]:
    hidden = {*before.secrets, *secrets}
    return tuple(
        Change(written(path), *(_shown(each, path, hidden) for each in (before.document, document)))
        for path in changed(before.document, document)
    )


def _shown(document: Document, path: Path, hidden: set[Path]) -> Any:
    try:
        value = find(document, path)
    except LookupError:
        return None
    return MASK if path in hidden else value
