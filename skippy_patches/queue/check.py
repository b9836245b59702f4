"""Everything that can be wrong with a queue, found at once: a pure function of what was read."""

from __future__ import annotations

import os

from skippy_patches.lighttuple import NamedTuple
from skippy_patches.queue import content, diffscan, envelope, mail, numbering, safety
from skippy_patches.queue.snapshot import ordered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skippy_patches import config
    from skippy_patches.numbers import Band, Pinned
    from skippy_patches.queue.findings import Finding
    from skippy_patches.queue.snapshot import Snapshot


class Policy(NamedTuple):
    """What the project wants checked. gaps: allow, warn or forbid holes in the numbers.

    bands, pinned: numbers that are no holes, see config.Project.
    """

    gaps: str = "warn"
    bands: tuple[Band, ...] = ()
    pinned: tuple[Pinned, ...] = ()


def policy_of(project: config.Project) -> Policy:
    """The policy that skippy-patches.yaml asks for."""
    return Policy(gaps=project.gaps, bands=project.bands, pinned=project.pinned)


def check(snapshot: Snapshot, policy: Policy) -> tuple[Finding, ...]:
    """Every finding, ordered by file, line and code. No I/O; the same input gives the same findings."""
    findings = numbering.check(snapshot, policy.gaps, bands=policy.bands, pinned=policy.pinned)
    readings = []
    for patch in ordered(snapshot):
        message = mail.read(patch.content)
        reading = content.Reading(patch, diffscan.scan(message))
        readings.append(reading)
        findings += envelope.check(patch, message)
        findings += content.check(reading, message)
    findings += content.check_repeats(readings)
    findings += safety.check(readings)
    return tuple(sorted(findings, key=_position))


def check_project(snapshot: Snapshot, project: config.Project) -> tuple[Finding, ...]:
    """As `check` by the project's policy, with what it requires in messages; only that starts git."""
    findings = check(snapshot, policy_of(project))
    if not project.require:
        return findings
    from skippy_patches.queue import required  # noqa: PLC0415 - subprocess, for projects that ask for it

    missing = required.check(ordered(snapshot), project.require)
    return tuple(sorted((*findings, *missing), key=_position))


def _position(finding: Finding) -> tuple[bytes, int, str, str]:
    file = os.fsencode(finding.files[0]) if finding.files else b""
    return file, finding.line or 0, finding.code, finding.what
