"""What must be in a record, and what of it must agree. docs/records.md says what each key means.

Keys that are not known here are passed over: a later version may write them under the same schema_version.
"""

from __future__ import annotations

import collections
import datetime
import re
from typing import TYPE_CHECKING, Any

from skippy_patches.queue.patch import content_digest, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    Check = Callable[[Any, str], None]

SHA256 = re.compile(r"[0-9a-f]{64}")
SHA1 = re.compile(r"[0-9a-f]{40}")
TIME = "%Y-%m-%dT%H:%M:%SZ"  # as build.result.now writes it


class _Wrong(Exception):
    """A place in the record, and what is wrong there."""


def problem(content: Mapping[str, Any]) -> str:
    """What of a record's shape is wrong, to stand behind "FILE is not a record:"; or nothing."""
    try:
        _RECORD(content, "")
        if not content["artifacts"]:
            raise _Wrong("`artifacts` must name libraries with their sha256")
    except _Wrong as wrong:
        return str(wrong)
    return ""


def contradictions(content: Mapping[str, Any]) -> Iterator[str]:
    """What a record says that cannot be true together: somebody's hand was there."""
    yield from _of_patches(content)
    yield from _of_libraries(content["artifacts"])
    yield from _repeated((file["name"] for file in content.get("recipe_files", ())), "the recipe file")
    for key in ("tests", "required_tests"):
        if counts := content.get(key):
            yield from _of_tests(key, counts)
    # With tests of an earlier build of the same bytes, older versions wrote when those ended.
    is_tested = content["tests"] or content.get("required_tests")
    if content["started"] > content["finished"] and not is_tested:
        yield "it ended before it began"


def _of_patches(content: Mapping[str, Any]) -> Iterator[str]:
    """A queue with a number, a change or a name twice is refused, and no commit is its own ancestor."""
    patches = content["patches"]
    last = patches[-1] if patches else content["upstream"]
    if any(content["patched"][key] != last[key] for key in ("commit", "tree")):
        yield f"`patched` is not {'the commit of the last patch' if patches else 'the pin'}"
    for patch in patches:
        if number_of(patch["file"]) != patch["number"]:
            yield f"{patch['file']} has number {patch['number']}"
    yield from _repeated((patch["file"] for patch in patches), "the patch")
    yield from _repeated((patch["number"] for patch in patches), "the number")
    yield from _repeated((patch["sha256"] for patch in patches), "a patch with sha256")
    tips = [content["upstream"], *patches]
    yield from _repeated((tip["commit"] for tip in tips), "the commit")
    for before, patch in zip(tips, patches, strict=False):
        if before["tree"] == patch["tree"]:
            yield f"{patch['file']} changes nothing: the tree before it is the same"
    recorded = content.get("queue_content_digest")
    if recorded is not None and recorded != content_digest(patch["sha256"] for patch in patches):
        yield "`queue_content_digest` is not that of `patches`"


def _of_libraries(libraries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from _repeated((library["name"] for library in libraries), "the library")
    sizes: dict[str, int] = {}
    for library in libraries:
        name, run_path = library["name"], library.get("run_path")
        without = library.get("sha256_without_run_path")
        if sizes.setdefault(library["sha256"], library["size"]) != library["size"]:
            yield f"{name} has the sha256 of another library, and another size"
        if (run_path is None) != (without is None):
            yield f"{name} has a run path, or a sha256 without it, and not both"
        elif run_path is not None and (run_path == "") != (without == library["sha256"]):
            told = "has a run path, and" if run_path else "has no run path, and not"
            yield f"{name} {told} the same sha256 without it"


def _of_tests(key: str, counts: Mapping[str, Any]) -> Iterator[str]:
    run, passed, failed, skipped = (counts[word] for word in ("run", "passed", "failed", "skipped"))
    if run != passed + failed:
        yield f"`{key}` has {run} run, and {passed} passed and {failed} failed"
    for listed, count, word in (
        ("failures", failed, "failed"),
        ("skips", skipped, "skipped"),
        ("tests", run + skipped, "run or skipped"),
    ):
        if listed in counts and len(counts[listed]) != count:
            yield f"`{key}` has {count} {word}, and lists {len(counts[listed])}"


def _repeated(values: Iterable[object], what: str) -> Iterator[str]:
    for value, count in collections.Counter(values).items():
        if count > 1:
            yield f"{what} {value} stands there {'twice' if count == 2 else f'{count} times'}"


def _text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise _Wrong(f"`{place}` is not text")


def _simple(value: Any, place: str) -> None:
    if not isinstance(value, str | bool):
        raise _Wrong(f"`{place}` is neither text nor true or false")


def _number(value: Any, place: str) -> None:
    if type(value) is not int or value < 0:  # a bool is an int to isinstance
        raise _Wrong(f"`{place}` is not a whole number")


def _time(value: Any, place: str) -> None:
    _text(value, place)
    try:
        is_time = datetime.datetime.strptime(value, TIME).strftime(TIME) == value
    except ValueError:
        is_time = False
    if not is_time:
        raise _Wrong(f"`{place}` is no time in UTC like 2026-01-31T12:00:00Z (ISO 8601)")


def _matching(pattern: re.Pattern[str], what: str) -> Check:
    def check(value: Any, place: str) -> None:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise _Wrong(f"`{place}` is not {what}")

    return check


def _nullable(check: Check) -> Check:
    return lambda value, place: None if value is None else check(value, place)


def _each(check: Check) -> Check:
    def check_all(value: Any, place: str) -> None:
        if not isinstance(value, list):
            raise _Wrong(f"`{place}` is not a list")
        for at, item in enumerate(value):
            check(item, f"{place}[{at}]")

    return check_all


def _values(check: Check) -> Check:
    def check_all(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise _Wrong(f"`{place}` is not an object")
        for key, item in value.items():
            check(item, f"{place}.{key}")

    return check_all


def _object(needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    def check_all(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise _Wrong(f"`{place}` is not an object")
        missing = [key for key in needed if key not in value]
        if missing:
            raise _Wrong(f"{f'`{place}`' if place else 'it'} lacks {', '.join(missing)}")
        for key, check in {**needed, **(optional or {})}.items():
            if key in value:
                check(value[key], f"{place}.{key}" if place else key)

    return check_all


_ID = _matching(SHA1, "a full commit or tree id")
_SUM = _matching(SHA256, "a SHA-256")
_TOOL = _object(
    {"name": _text, "version": _text, "sha256": _matching(re.compile("|[0-9a-f]{64}"), "a SHA-256")}
)
_COUNTS = dict.fromkeys(("run", "passed", "failed", "skipped"), _number)
_REASONS = _each(_object({"name": _text, "reason": _text}))
_RESULTS = _each(_object({"name": _text, "status": _text, "reason": _text}))
_RECORD = _object(
    {
        "recipe": _text,
        "upstream": _object({"commit": _ID, "tree": _ID, "tag": _text}),
        "patched": _object({"commit": _ID, "tree": _ID}),
        "queue_digest": _SUM,
        "patches": _each(
            _object({"number": _number, "file": _text, "sha256": _SUM, "commit": _ID, "tree": _ID})
        ),
        "platform": _object({"system": _text, "machine": _text, "libc": _text}),
        "artifacts": _each(
            _object(
                {"name": _text, "sha256": _SUM, "size": _number},
                {"run_path": _nullable(_text), "sha256_without_run_path": _nullable(_SUM)},
            )
        ),
        "toolchain": _values(_nullable(_TOOL)),
        "cmake": _object({"generator": _text, "arguments": _each(_text), "variables": _values(_text)}),
        "tests": _nullable(
            _object({**_COUNTS, "failures": _RESULTS, "skips": _REASONS, "excluded": _REASONS})
        ),
        "started": _time,
        "finished": _time,
    },
    {  # records of older versions lack them
        "recipe_files": _each(_object({"name": _text, "sha256": _SUM})),
        "required_tests": _nullable(_object({**_COUNTS, "tests": _RESULTS})),
        "queue_content_digest": _SUM,
        "reproducibility": _values(_simple),
        "reproducible": _nullable(_object({"checked": _time, "method": _text})),
    },
)
