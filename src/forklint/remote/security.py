"""TLS of connections, as Dask has it: three files, named by options, or by Dask's own configuration."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SCHEMES = ("tcp", "tls")


class AddressError(ValueError):
    """An address or its files for TLS are not usable; the message is one line for the user."""


@dataclass(frozen=True)
class Tls:
    """Files in PEM format; Dask's configuration has those that are not given."""

    ca_file: Path | None = None
    """The certificate of the authority that signed all others."""
    cert: Path | None = None
    key: Path | None = None

    def security(self, role: str) -> Any:
        """Dask's ``Security`` for a client, worker or scheduler; raises AddressError."""
        from distributed.security import Security  # noqa: PLC0415 - forklint[dask]

        given = {"tls_ca_file": self.ca_file, f"tls_{role}_cert": self.cert, f"tls_{role}_key": self.key}
        for path in given.values():
            if path is not None and not path.is_file():
                raise AddressError(f"{path}: no such file")
        return Security(**{name: str(path) for name, path in given.items() if path is not None})

    def connection(self, address: str, role: str) -> tuple[Any, dict[str, Any]]:
        """``Security`` for this address, and the arguments for connecting; raises AddressError."""
        check_address(address)
        security = self.security(role)
        if is_encrypted(address):
            security.require_encryption = True
            if not security.tls_ca_file:
                raise AddressError(f"{address} needs --tls-ca-file, --tls-cert and --tls-key")
        try:
            return security, security.get_connection_args(role)
        except OSError as error:  # ssl.SSLError is one
            raise AddressError(f"the certificate or key cannot be used: {error}") from None


def check_address(address: str) -> None:
    """Raise AddressError unless it names a machine and a port, such as ``tcp://scheduler:8786``."""
    try:
        parts = urlsplit(address)
        is_whole = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port is not None
    except ValueError:
        is_whole = False
    if not is_whole:
        raise AddressError(f"'{address}' is not an address: write tcp://HOST:PORT, or tls://HOST:PORT")


def is_encrypted(address: str) -> bool:
    """Whether both sides must show a certificate."""
    return address.startswith("tls://")


def is_local(address: str) -> bool:
    """Whether an address cannot be reached from other machines."""
    host = urlsplit(address).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


OPEN = (
    "warning: connections to {address} are not encrypted, and everyone who can open one can run code here as this "
    "user; use tls:// unless you trust the whole network"
)
