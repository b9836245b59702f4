"""Programs of several prefixes of the queue, each built by skippy-patches in a project of its own.

A project is a folder of .skippy/bench with the configuration of the real one. So the checkout that people
work in stays where it is, and what was built is said by the tool's own records.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import yaml

RECIPE = "rpc"
BENCH = "bench-skippy-kv-page"
SERVER = "ggml-rpc-server"
CONFIGURATION = "skippy-patches.yaml"
_PATHS = (("recipes",), ("upstream", "commit_file"), ("upstream", "commit_object"))


class BenchError(Exception):
    """Something that keeps us from measuring: what happened, and what to do."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prefix:
    """The queue up to patch `number`, built. programs: the folder with the two programs. commit: full id.

    number is 0, and commit empty, for programs that are not the queue's.
    """

    number: int
    commit: str
    compiler: str
    programs: Path

    def program(self, name: str) -> Path:
        """One of the programs. Raises BenchError."""
        file = self.programs / name
        if not file.is_file():
            raise BenchError(
                f"there is no {file}\n"
                "  The queue has the program from patch 0020 on, and recipe rpc builds it."
            )
        return file

    def digest(self) -> str:
        """SHA-256 of all programs and libraries, to find a build that changed while we measured."""
        digest = hashlib.sha256()
        for file in sorted(self.programs.iterdir()):
            if file.is_file() and (
                file.name in {BENCH, SERVER} or ".so" in file.name or "dylib" in file.name
            ):
                digest.update(file.name.encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()


def numbers(project: Path) -> tuple[int, ...]:
    """The numbers of the queue's patches, in the order in which they are applied."""
    return tuple(patch["number"] for patch in _run(project, "list")["patches"])


def build(project: Path, number: int, jobs: int | None) -> Prefix:
    """Build the queue up to patch `number`. Raises BenchError."""
    own = _own_project(project, number)
    applied = _run(own, "apply")
    if not applied["patches"] or applied["patches"][-1]["number"] != number:
        raise BenchError(f"the queue has no patch {number:04}: `skippy-patches list` shows what there is")
    built = _run(own, "build", "--recipe", RECIPE, *(["--jobs", str(jobs)] if jobs else []))
    return Prefix(
        number=number,
        commit=str(applied["patched"]["commit"]),
        compiler="{name} {version}".format(**built["toolchain"]["cxx"]),
        programs=own / ".skippy/build" / RECIPE / "tree/bin",
    )


def foreign(programs: Path) -> Prefix:
    """Programs that somebody else built."""
    return Prefix(number=0, commit="", compiler="", programs=programs)


def _own_project(project: Path, number: int) -> Path:
    own = project / f".skippy/bench/{number:04}"
    own.mkdir(parents=True, exist_ok=True)
    configuration = yaml.safe_load((project / CONFIGURATION).read_text(encoding="utf-8"))
    configuration.setdefault("recipes", "recipes")
    configuration.setdefault("queue", "patches")
    configuration["checkout"] = ".skippy/llama.cpp"
    configuration["queue"] = _copy_queue(project, number, own / "patches")
    for *outer, key in _PATHS:
        section: dict[str, Any] = configuration[outer[0]] if outer else configuration
        if key in section:
            section[key] = _absolute(project, section[key])
    text = yaml.safe_dump(configuration, sort_keys=False)
    (own / CONFIGURATION).write_text(text, encoding="utf-8")
    return own


def _copy_queue(project: Path, number: int, folder: Path) -> str:
    """The patches up to `number` alone: `build` applies all of a queue, however far it was applied before."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for patch in _run(project, "list")["patches"]:
        if patch["number"] <= number:
            shutil.copy(project / patch["lane"] / patch["file"], folder)
    return folder.name


def _absolute(project: Path, value: str | list[str]) -> str | list[str]:
    if isinstance(value, str):
        return str((project / value).resolve())
    return [str((project / lane).resolve()) for lane in value]


def _run(project: Path, command: str, *arguments: str) -> dict[str, Any]:
    """What the project's own tool says, as JSON. Its progress goes to stderr."""
    program = str(Path(sysconfig.get_path("scripts")) / "skippy-patches")
    line = [sys.executable, program, "-C", str(project), command, *arguments, "--format", "json"]
    done = subprocess.run(line, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise BenchError(f"exit status {done.returncode}: skippy-patches {' '.join(line[2:])}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
