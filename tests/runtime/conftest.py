"""What all tests of parts share: disks that do not wait, and a bucket of this machine."""

import os

import pytest

from buckets import bucket


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch):
    with bucket(monkeypatch) as found:
        yield found
