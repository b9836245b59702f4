"""CPU of an apply that finds nothing to do against bare Python: `python benchmarks/bench_apply.py [RUNS]`.

The checkout is as large as llama.cpp's: 3,400 files in 400 folders. Exit status 1 over the limit.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from side_by_side import environment, medians, report

LIMIT = 4.0
FILES = 3400
FOLDERS = 400


def main() -> int:
    """Measure, print the table and judge."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    program = str(Path(sysconfig.get_path("scripts")) / "skippy-patches")
    with tempfile.TemporaryDirectory(prefix="bench-apply-") as folder:
        env = environment(Path(folder))
        project = str(_project(Path(folder)))
        apply = [sys.executable, program, "-C", project, "apply"]
        subprocess.run(apply, check=True, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cases = {"apply, nothing to do": apply, "the same, as JSON": [*apply, "--format", "json"]}
        # Another spelling of the same takes the long way: what the stamp saves.
        long_way = {"the same, without the stamp": [sys.executable, program, "-q", "-C", project, "apply"]}
        taken = medians(cases | long_way, env, runs)
    return report(taken, dict.fromkeys(cases, LIMIT))


def _project(folder: Path) -> Path:
    upstream, project = folder / "upstream", folder / "project"
    for number in range(FILES):
        file = upstream / f"folder-{number % FOLDERS}/file-{number}.cpp"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"int number = {number};\n" * 20, encoding="utf-8")
    pin = _commit(upstream, "The pin")
    (upstream / "folder-1/file-1.cpp").write_text("int changed;\n", encoding="utf-8")
    _commit(upstream, "A change")
    (project / "patches").mkdir(parents=True)
    patch = _git(upstream, "format-patch", "-1", "--stdout")
    (project / "patches/0001-change.patch").write_text(patch, encoding="utf-8")
    configuration = f"upstream: {{repository: {upstream}, commit: {pin}}}\n"
    (project / "skippy-patches.yaml").write_text(configuration, encoding="utf-8")
    return project


def _commit(repository: Path, message: str) -> str:
    _git(repository, "init", "-q")
    _git(repository, "add", "-A")
    _git(repository, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", message)
    return _git(repository, "rev-parse", "HEAD").strip()


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
