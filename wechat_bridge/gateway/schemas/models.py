"""The models there are, by name: our examples, and those of installed packages."""

from __future__ import annotations

from importlib.metadata import entry_points

from pydantic import BaseModel

from wechat_bridge.errors import SettingsError
from wechat_bridge.gateway.schemas.examples import PaymentCallback, UserLogin

GROUP = "wechat_bridge.schemas"

EXAMPLES: dict[str, type[BaseModel]] = {"user.login": UserLogin, "payment.callback": PaymentCallback}


def load_models() -> dict[str, type[BaseModel]]:
    """Return every model by name. A package adds one with an entry point of group ``wechat_bridge.schemas``.

    The entry point names a class of pydantic's BaseModel; of two with one name ours goes before a package's. Raises
    SettingsError for one that is something else.
    """
    found = {point.name: point.load() for point in entry_points(group=GROUP)}
    for name, model in found.items():
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise SettingsError(f"entry point {name} of {GROUP}: should be a class of pydantic's BaseModel")
    return found | EXAMPLES
