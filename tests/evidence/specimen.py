"""A record with all that a record can hold, and names that need care in an address."""

from __future__ import annotations

import copy
from typing import Any

from skippy_patches.evidence import shape
from skippy_patches.evidence.record import Record
from skippy_patches.queue.patch import content_digest

ODD = "0021-ümlaut & #fragment 100%.patch"
CONTENT: dict[str, Any] = {
    "recipe": "cuda",
    "recipe_files": [{"name": "cuda.yaml", "sha256": "1" * 64}, {"name": "cpu.yaml", "sha256": "2" * 64}],
    "upstream": {"commit": "a" * 40, "tree": "b" * 40, "tag": "b10361"},
    "patched": {"commit": "4" * 40, "tree": "5" * 40},
    "queue_digest": "d" * 64,
    "queue_content_digest": content_digest(("6" * 64, "9" * 64)),
    "patches": [
        {
            "number": 18, "file": "0018-one.patch", "sha256": "6" * 64, "subject": "skippy: one",
            "commit": "7" * 40, "tree": "8" * 40, "files": 1, "insertions": 2, "deletions": 3,
        },
        {
            "number": 21, "file": ODD, "sha256": "9" * 64, "subject": "skippy: <ümlaut>", "commit": "4" * 40,
            "tree": "5" * 40, "files": 1, "insertions": 2, "deletions": 3,
        },
    ],
    "platform": {"system": "linux", "machine": "x86_64", "libc": "glibc 2.36"},
    "artifacts": [
        {"name": "libllama.so", "sha256": "c" * 64, "size": 4212496},
        {"name": "libggml-base.so", "sha256": "f" * 64, "size": 888688},
    ],
    "toolchain": {
        "c": {"name": "cc", "version": "(Debian 12.2.0-14+deb12u1) 12.2.0", "sha256": "1a" * 32},
        "cxx": {"name": "c++", "version": "(Debian 12.2.0-14+deb12u1) 12.2.0", "sha256": "1b" * 32},
        "launcher": {"name": "ccache", "version": "4.7.5", "sha256": "1c" * 32, "remote": "redis"},
        "ninja": {"name": "ninja", "version": "", "sha256": ""},
    },
    "cmake": {
        "generator": "Ninja",
        "arguments": ["-S", "<source>", "-B", "<build>", "-DCMAKE_CXX_COMPILER=<cxx>", "-DGGML_CUDA_FA=ON"],
        "variables": {"CMAKE_CUDA_ARCHITECTURES": "90", "GGML_CUDA_FA": "ON", "GGML_METAL_STD": ""},
    },
    "reproducibility": {"method": "prefix-map", "checked": True},
    "reproducible": {"checked": "2026-01-31T12:20:00Z", "method": "prefix-map"},
    "tests": {
        "run": 45, "passed": 45, "failed": 0, "skipped": 4, "failures": [],
        "skips": [{"name": "test-a", "reason": "no model"}],
        "excluded": [{"name": "test-b", "reason": "network"}],
    },
    "required_tests": {
        "run": 1, "passed": 1, "failed": 0, "skipped": 0,
        "tests": [{"name": "test-skippy-a", "status": "passed", "reason": ""}],
    },
    "started": "2026-01-31T12:00:00Z",
    "finished": "2026-01-31T12:10:00Z",
}  # fmt: skip
_LATER = ("recipe_files", "queue_content_digest", "reproducibility", "reproducible", "required_tests")


def record(**changes: object) -> Record:
    """The record, with other values for some keys: also with some that no file can have."""
    assert not shape.problem(CONTENT)
    return Record(content=copy.deepcopy(CONTENT) | changes)


def old_record() -> Record:
    """One of the first version, without later keys: a pin without tag, an empty queue, no launcher."""
    content = record(
        patches=[],
        upstream={"commit": "a" * 40, "tree": "b" * 40, "tag": ""},
        patched={"commit": "a" * 40, "tree": "b" * 40},
        toolchain={"cxx": CONTENT["toolchain"]["cxx"], "launcher": None},
        tests=None,
    ).content
    return Record(content={key: value for key, value in content.items() if key not in _LATER})
