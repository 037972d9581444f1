"""Credentials at rest: encrypted with the first key, readable with any of them."""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from pydantic import SecretStr

from wechat_bridge.errors import NotConfigured, SettingsError
from wechat_bridge.model.channel import Account

KEYS_NAME = "WECHAT_BRIDGE_SECRET_KEYS"


class Vault:
    """Seals and opens accounts. Raises SettingsError when a key is not a Fernet key."""

    def __init__(self, keys: Sequence[SecretStr]) -> None:
        self._cipher = cipher_of(keys)

    def seal(self, account: Account) -> str:
        """Return the encrypted account. Raises NotConfigured without a key."""
        return self._ready().encrypt(account.model_dump_json().encode()).decode()

    def open(self, sealed: str) -> Account:
        """Return the account. Raises NotConfigured without a key, or when no key fits."""
        return Account.model_validate_json(self._opened(sealed))

    def seal_text(self, text: str) -> str:
        """Return an encrypted secret. Raises NotConfigured without a key."""
        return self._ready().encrypt(text.encode()).decode()

    def open_text(self, sealed: str) -> str:
        """Return a secret. Raises NotConfigured without a key, or when no key fits."""
        return self._opened(sealed).decode()

    def _opened(self, sealed: str) -> bytes:
        try:
            return self._ready().decrypt(sealed.encode())
        except InvalidToken:
            raise NotConfigured(
                f"{KEYS_NAME}: none of the keys opens the stored credentials; add the old key"
            ) from None

    def _ready(self) -> MultiFernet:
        if self._cipher is None:
            raise NotConfigured(f"{KEYS_NAME} is not set; credentials are never stored in the clear")
        return self._cipher


def cipher_of(keys: Sequence[SecretStr]) -> MultiFernet | None:
    """Return what seals with the first key and opens with all; None without keys. Raises SettingsError."""
    try:
        ciphers = [Fernet(key.get_secret_value()) for key in keys]
    except ValueError:
        raise SettingsError(f"{KEYS_NAME}: each key should be 32 bytes in URL-safe base64 (44 characters)") from None
    return MultiFernet(ciphers) if ciphers else None


def new_key() -> str:
    """Return a fresh key."""
    return Fernet.generate_key().decode()
