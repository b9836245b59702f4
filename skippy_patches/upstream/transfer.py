"""Downloads that are complete and verified, or not there at all."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING

from skippy_patches.upstream.errors import SourceFailed

if TYPE_CHECKING:
    from pathlib import Path

    from skippy_patches.progress import Reporter

_CHUNK = 1 << 20
_TIMEOUT_SECONDS = 60


def download(address: str, folder: Path, reporter: Reporter) -> Path:
    """Fetch `address` into `folder`; the person's proxy variables count. Raises SourceFailed.

    A transfer that ends early is not used: the size must be the announced one.
    """
    if not address.startswith(("https://", "http://", "file://")):
        raise SourceFailed("only http, https and file addresses can be downloaded")
    target = folder / "download.bundle"
    try:
        with urllib.request.urlopen(address, timeout=_TIMEOUT_SECONDS) as response, target.open("wb") as file:  # noqa: S310 - checked above
            announced = response.headers.get("Content-Length")
            total = int(announced) if announced else None
            got = _copy(response, file, total, reporter)
    except urllib.error.HTTPError as error:
        raise SourceFailed(str(error)) from error
    except (OSError, http.client.HTTPException) as error:  # URLError is one; a name, a route, a cut line
        raise SourceFailed(str(getattr(error, "reason", error))) from error
    if total is not None and got != total:
        raise SourceFailed(f"the download ended early: {got} of {total} bytes")
    return target


def verify_sha256(file: Path, expected: str) -> None:
    """Raise SourceFailed unless `file` is there and, where `expected` is given, has that SHA-256."""
    try:
        with file.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise SourceFailed(f"{file.name} cannot be read: {error.strerror}") from error
    if expected and found != expected:
        raise SourceFailed(f"sha256 of {file.name} is {found}, the configuration says {expected}")


def _copy(source: IO[bytes], target: IO[bytes], total: int | None, reporter: Reporter) -> int:
    got = 0
    while chunk := source.read(_CHUNK):
        target.write(chunk)
        got += len(chunk)
        reporter.advance("Downloading", got, total)
    return got
