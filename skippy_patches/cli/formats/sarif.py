"""Findings as a SARIF 2.1.0 log, for code scanning and other tools that gather results.

The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html; tests/cli/test_sarif.py holds
the log against its published schema.
"""

from __future__ import annotations

import collections
import hashlib
import os
import posixpath
import urllib.parse
from typing import TYPE_CHECKING, Any

from skippy_patches import __version__
from skippy_patches.cli.formats import rules
from skippy_patches.queue.findings import printable
from skippy_patches.queue.patch import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skippy_patches.queue.findings import Finding

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# The name that code scanning gives the top of the repository.
_TOP = "%SRCROOT%"
_FINGERPRINT = "skippyPatchesFinding/v1"


def log(findings: Sequence[Finding], *, prefix: str) -> dict[str, Any]:
    """The log: one run. prefix: the project's folder in its repository, as `a/b/`; paths begin with it."""
    codes = sorted({finding.code for finding in findings})
    fingerprints = _fingerprints(findings)
    driver = {
        "name": "skippy-patches",
        "version": __version__,
        "rules": [_rule(code, findings) for code in codes],
    }
    results = [
        _result(finding, codes.index(finding.code), fingerprint, prefix)
        for finding, fingerprint in zip(findings, fingerprints, strict=True)
    ]
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {_TOP: {"description": {"text": "The top of the project's repository."}}},
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, findings: Sequence[Finding]) -> dict[str, Any]:
    """A rule, helped by what its findings say in common: the rest is about one patch."""
    under = [finding for finding in findings if finding.code == code]
    reasons = {finding.why.partition("\n")[0] for finding in under}
    text = rules.description(code)
    return {
        "id": code,
        "shortDescription": {"text": text},
        "help": {"text": _text(text, *(reasons if len(reasons) == 1 else ()))},
        "defaultConfiguration": {"level": under[0].severity},
    }


def _result(finding: Finding, rule: int, fingerprint: str, prefix: str) -> dict[str, Any]:
    locations = [_location(prefix + file) for file in finding.files or ("skippy-patches.yaml",)]
    if finding.line is not None:
        locations[0]["physicalLocation"]["region"] = {"startLine": finding.line}
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": _text(finding.what, finding.why, finding.mend)},
        "locations": locations[:1],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
    }
    return {**result, "relatedLocations": locations[1:]} if len(locations) > 1 else result


def _location(path: str) -> dict[str, Any]:
    uri = urllib.parse.quote(os.fsencode(posixpath.normpath(path)))
    return {"physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": _TOP}}}


def _text(*parts: str) -> str:
    """Plain text, a line each. No name drives a terminal or makes an embedded link, `[x](y)`."""
    text = "\n".join(printable(line) for part in parts for line in part.splitlines())
    return text.replace("](", "] (")


def _fingerprints(findings: Sequence[Finding]) -> list[str]:
    """What stays when patches get other numbers: the code, the name without number, and which of its kind."""
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    made = []
    for finding in findings:
        kind = (finding.code, _unnumbered(finding.files[0]) if finding.files else "")
        text = "\0".join((*kind, str(seen[kind])))
        seen[kind] += 1
        made.append(hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest())
    return made


def _unnumbered(path: str) -> str:
    lane, slash, name = path.rpartition("/")
    match = NAME.fullmatch(name)
    return f"{lane}{slash}{match[2] if match else name}"
