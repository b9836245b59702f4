"""skippy-patches.yaml: what it may hold, what wins, and how its mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from skippy_patches import config
from skippy_patches.errors import ConfigError, UsageError

COMMIT = "14e78ddef7a2061e7d5a31dce4eb7ee0bcdbc840"
MINIMAL = f"upstream:\n  repository: https://example.org/llama.cpp.git\n  commit: {COMMIT}\n"


def _load(folder: Path, text: str, **variables: str) -> config.Project:
    file = folder / config.FILE_NAME
    file.write_text(text, encoding="utf-8")
    return config.load(file, variables=variables)


def test_defaults(tmp_path: Path) -> None:
    project = _load(tmp_path, MINIMAL)
    assert project.queue == (tmp_path / "patches",)
    assert project.recipes == tmp_path / "recipes"
    assert project.checkout == tmp_path / ".skippy/llama.cpp"
    assert project.committer == config.Identity(name="Skippy Patches", email="skippy-patches@localhost")
    assert (project.subject_prefix, project.gaps) == ("strip", "warn")


def test_this_repository_s_own_file() -> None:
    project = config.load(config.find(Path(__file__).parent), variables={})
    assert project.upstream.tag == "b10361"
    assert [mirror.kind for mirror in project.upstream.mirrors] == ["npm"]


def test_everything(tmp_path: Path) -> None:
    text = f"""\
upstream:
  tag: b1
  commit: {COMMIT.upper()}
  commit_object: pin/commit
  mirrors:
    - {{npm: carrier@1.0.0, path: a/b.bundle, sha256: {"A" * 64}}}
    - bundle: local.bundle
    - bundle: https://example.org/x.bundle
    - directory: ../llama.cpp
committer: {{name: A, email: a@b}}
queue: [base, extra]
recipes: how
checkout: where
subject_prefix: keep
gaps: forbid
"""
    project = _load(tmp_path, text)
    assert project.upstream.commit == COMMIT
    assert project.upstream.commit_object == tmp_path / "pin/commit"
    npm, local, remote, directory = project.upstream.mirrors
    assert npm == config.Mirror(kind="npm", location="carrier@1.0.0", path="a/b.bundle", sha256="a" * 64)
    assert local.location == str(tmp_path / "local.bundle")
    assert remote.location == "https://example.org/x.bundle"
    assert Path(directory.location) == tmp_path / "../llama.cpp"
    assert project.queue == (tmp_path / "base", tmp_path / "extra")
    assert (project.checkout, project.subject_prefix, project.gaps) == (tmp_path / "where", "keep", "forbid")


def test_variables_beat_the_file_and_flags_beat_variables(tmp_path: Path) -> None:
    text = MINIMAL + "checkout: file\ncommitter: {name: File, email: f@x}\n"
    variables = {
        "SKIPPY_PATCHES_CHECKOUT": "variable",
        "SKIPPY_PATCHES_REPOSITORY": "/mirror",
        "SKIPPY_PATCHES_COMMITTER_NAME": "Variable",
    }
    project = _load(tmp_path, text, **variables)
    assert project.checkout == tmp_path / "variable"
    assert project.upstream.repository == "/mirror"
    assert project.committer == config.Identity(name="Variable", email="f@x")
    overrides = config.Overrides(checkout="flag")
    flagged = config.load(tmp_path / config.FILE_NAME, variables=variables, overrides=overrides)
    assert flagged.checkout == tmp_path / "flag"
    assert _load(tmp_path, text, SKIPPY_PATCHES_CHECKOUT="").checkout == tmp_path / "file"


@pytest.mark.parametrize(
    ("change", "line", "what", "mend"),
    [
        (
            ("commit: " + COMMIT, "commit: 14e78dd"),
            3,
            "must be a full 40-digit commit SHA, not '14e78dd'",
            "ls-remote",
        ),
        (("commit: " + COMMIT, "commit: master"), 3, "must be a full 40-digit commit SHA, not 'master'", ""),
        (
            ("commit: " + COMMIT, "comit: " + COMMIT),
            2,
            "'upstream.commit' is missing",
            "Line 3 has 'comit'. Did you mean 'commit'?",
        ),
        (("upstream:", "upstraem:"), 1, "'upstream' is missing", "Line 1 has 'upstraem'."),
        (
            ("commit: " + COMMIT, f"commit: {COMMIT}\n  taag: b1"),
            4,
            "unknown key 'upstream.taag'",
            "mean 'tag'?",
        ),
        (("commit: " + COMMIT, f"commit: {COMMIT}\ngapps: warn"), 4, "unknown key 'gapps'", "mean 'gaps'?"),
        (
            ("commit: " + COMMIT, f"commit: {COMMIT}\ngaps: wrn"),
            4,
            "must be warn or allow or forbid",
            "mean 'warn'?",
        ),
        (("commit: " + COMMIT, f"commit: {COMMIT}\ncommit: x"), 4, "unknown key 'commit'", ""),
        (("commit: " + COMMIT, f"commit: {COMMIT}\nqueue: []"), 4, "'queue' names no folder", ""),
        (("commit: " + COMMIT, f"commit: {COMMIT}\nqueue: [a, a]"), 4, "names 'a' twice", ""),
        (("commit: " + COMMIT, f"commit: {COMMIT}\nqueue: {{a: b}}"), 4, "must be a single value", ""),
        (("commit: " + COMMIT, f"commit: {COMMIT}\ncheckout: ."), 4, "a folder that holds the project", ""),
        (("commit: " + COMMIT, f"commit: {COMMIT}\n  mirrors:\n    - path: x"), 5, "exactly one of npm", ""),
        (
            ("commit: " + COMMIT, f"commit: {COMMIT}\n  mirrors:\n    - npm: x@1"),
            5,
            "name the bundle inside",
            "",
        ),
        (("commit: " + COMMIT, f"commit: {COMMIT}\n  mirrors: x"), 4, "must be a list", ""),
        (
            ("commit: " + COMMIT, f"commit: {COMMIT}\n  mirrors:\n    - {{bundle: x, sha256: 12}}"),
            5,
            "64 hexadecimal digits",
            "sha256sum",
        ),
        (("repository: https://example.org/llama.cpp.git", "tag: b1"), 2, "there are no mirrors", ""),
    ],
)
def test_mistakes_name_file_line_and_mend(
    tmp_path: Path, change: tuple[str, str], line: int, what: str, mend: str
) -> None:
    text = MINIMAL.replace(*change)
    assert text != MINIMAL
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / config.FILE_NAME}:{line}: ")
    assert what in str(caught.value)
    assert mend in caught.value.mend
    assert caught.value.exit_status == 2


def test_the_search_stops_at_the_top_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / config.FILE_NAME).write_text(MINIMAL, encoding="utf-8")
    deep = tmp_path / "repository/src"
    deep.mkdir(parents=True)
    assert config.find(deep) == tmp_path / config.FILE_NAME
    (tmp_path / "repository/.git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"No skippy-patches\.yaml") as caught:
        config.find(deep)
    assert "-C DIR" in caught.value.mend
