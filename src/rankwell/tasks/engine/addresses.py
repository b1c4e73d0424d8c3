"""Loads on servers: one that is not on this machine needs the user's permission."""

import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from rankwell.data.secrets import Secrets
from rankwell.documents import read_toml
from rankwell.errors import BadUsage, flag
from rankwell.store import Source

MANY_REQUESTS = 10_000
_LIBPQ = {"host": "PGHOST", "hostaddr": "PGHOSTADDR", "service": "PGSERVICE"}
"""Parameters of an address of PostgreSQL that name its machine, and the variables that replace
them.
"""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def check_load(spec: Any, options: Mapping[str, Any], reason: str, allowed: str | None) -> None:
    """Raises BadUsage where an engine is on another machine, and its host is not the allowed one.

    reason: why this is a load. The host is resolved, and every address that it has must be a
    loopback address.
    """
    for host in sorted(hosts_of(spec, options)):
        if host != allowed and not _is_loopback(host):
            raise BadUsage(
                f"{reason} would load {host}, which is not this machine; if that is "
                f"permitted, {flag('--allow-load', host)}."
            )


def hosts_of(spec: Any, options: Mapping[str, Any]) -> set[str]:
    """The hosts in the addresses of an engine: in its name, in its parameters, and in a file of a
    request.

    Variables are expanded first. An address of PostgreSQL may name hosts in its parameters, or
    leave them to the environment.
    """
    texts = [str(text) for text in (spec if isinstance(spec, str) else "", *options.values())]
    if isinstance(spec, str) and spec.endswith(".toml"):
        texts += [
            str(value) for value in read_toml(Source(spec))[1].values() if isinstance(value, str)
        ]
    hosts: set[str] = set()
    for text in texts:
        with suppress(
            BadUsage
        ):  # a variable that is not set ends the call when the engine is opened
            if (match := _ADDRESS.search(Secrets().expand(text))) is not None:
                hosts |= _hosts_in(match[0])
    host = options.get("host")
    return hosts | ({str(host)} if host else set())


def _hosts_in(address: str) -> set[str]:
    try:
        parts = urlsplit(address)
        addressed = [
            urlsplit(f"//{machine}").hostname
            for machine in parts.netloc.rpartition("@")[2].split(",")
        ]
    except ValueError:  # the engine refuses it
        return set()
    if not parts.scheme.startswith("postgres"):
        return {*filter(None, addressed)}
    settings = {name: os.environ.get(variable, "") for name, variable in _LIBPQ.items()}
    settings |= {"host": ",".join(filter(None, addressed))} if any(addressed) else {}
    settings |= {name: value for name, value in parse_qsl(parts.query) if name in _LIBPQ}
    hosts = (settings["hostaddr"] or settings["host"]).split(",")
    # A path is a socket of this machine; a service may name any host.
    remote_hosts = {host for host in hosts if host and not host.startswith(("/", "@"))}
    return remote_hosts | ({f"service={settings['service']}"} if settings["service"] else set())


def _is_loopback(host: str) -> bool:
    try:
        addresses = {str(information[4][0]) for information in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in addresses)
