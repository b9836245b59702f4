"""skippy-patches.yaml: what it may hold, what wins, and how its mistakes are told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from skippy_patches import config, numbers
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
bands: {{mtp: 100-199, kv: 20 - 29}}
pinned: [21, 0034-coalesce.patch, mtp/0035-a.patch]
require: [Origin, Signed-off-by]
"""
    project = _load(tmp_path, text)
    assert project.bands == (numbers.Band("kv", 20, 29), numbers.Band("mtp", 100, 199))
    assert [number in project.bands[0] for number in (19, 20, 29, 30)] == [False, True, True, False]
    assert project.pinned == (
        numbers.Pinned(21, ""),
        numbers.Pinned(34, "0034-coalesce.patch"),
        numbers.Pinned(35, "mtp/0035-a.patch"),
    )
    assert project.require == ("Origin", "Signed-off-by")
    assert project.upstream.commit == COMMIT
    assert project.upstream.commit_object == tmp_path / "pin/commit"
    npm, local, remote, directory = project.upstream.mirrors
    assert npm == config.Mirror(kind="npm", location="carrier@1.0.0", path="a/b.bundle", sha256="a" * 64)
    assert local.location == str(tmp_path / "local.bundle")
    assert remote.location == "https://example.org/x.bundle"
    assert Path(directory.location) == tmp_path / "../llama.cpp"
    assert project.queue == (tmp_path / "base", tmp_path / "extra")
    assert (project.checkout, project.subject_prefix, project.gaps) == (tmp_path / "where", "keep", "forbid")


def test_variables_beat_the_file(tmp_path: Path) -> None:
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
        (("commit: " + COMMIT, f"commit: {COMMIT}\nqueue: [a, ./a/]"), 4, "'./a/' twice, first as 'a'", ""),
        (("commit: " + COMMIT, f"commit: {COMMIT}\nqueue: [b/../a, a]"), 4, "names 'a' twice, first as", ""),
        (("commit: " + COMMIT, f'commit: {COMMIT}\nqueue: "a\\0b"'), 4, "holds a NUL character", ""),
        (
            ("commit: " + COMMIT, f"commit: {COMMIT}\ncheckout: a/.."),
            4,
            "a folder that holds the project",
            "",
        ),
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


def test_a_lane_named_through_a_link_is_named_twice(tmp_path: Path) -> None:
    (tmp_path / "patches").mkdir()
    (tmp_path / "link").symlink_to("patches")
    with pytest.raises(ConfigError, match="names 'link' twice, first as 'patches'"):
        _load(tmp_path, MINIMAL + "queue: [patches, link]\n")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("name", "", "holds no name"),
        ("name", "<>", "holds no name"),
        ("name", ".,", "holds no name"),
        ("name", "Zo\u00eb\nX", "holds control characters"),
        ("name", "a\x7fb", "holds control characters"),
        ("email", "a@b\n", "holds control characters"),
        ("email", "<a@b>", "Write it without them: a@b"),
        ("name", "Ada, Jr.", "Write it without them: Ada, Jr"),
        ("name", "A <a@b> B", "Write it without them: A a@b B"),
    ],
)
def test_a_committer_that_git_would_not_write_as_it_is(
    tmp_path: Path, key: str, value: str, said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, f"{MINIMAL}committer:\n  {key}: {json.dumps(value)}\n")
    assert str(caught.value).startswith(f"{tmp_path / config.FILE_NAME}:5: 'committer.{key}' ")
    assert said in str(caught.value)
    if value:
        with pytest.raises(UsageError) as blamed:
            _load(tmp_path, MINIMAL, **{f"SKIPPY_PATCHES_COMMITTER_{key.upper()}": value})
        assert str(blamed.value).startswith(f"The variable SKIPPY_PATCHES_COMMITTER_{key.upper()} ")
        assert said in str(blamed.value)


def test_committers_that_git_writes_as_they_are(tmp_path: Path) -> None:
    project = _load(tmp_path, MINIMAL + 'committer: {name: "Zoë O\'Neil (x) 李", email: ""}\n')
    assert project.committer == config.Identity(name="Zoë O'Neil (x) 李", email="")


def test_a_bad_variable_is_blamed_itself(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"The variable SKIPPY_PATCHES_CHECKOUT is '\.', a folder that holds"
    ):
        _load(tmp_path, MINIMAL, SKIPPY_PATCHES_CHECKOUT=".")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("../up", "{root}/../up"),
        ("up", "{root}/up"),
        ("./a:b", "{root}/./a:b"),
        ("/up", "/up"),
        ("~/up", "{home}/up"),
        ("~nobody-of-that-name/up", "{root}/~nobody-of-that-name/up"),
        ("host:up", "host:up"),
        ("git@host:a/b.git", "git@host:a/b.git"),
        ("https://example.org/a:b", "https://example.org/a:b"),
        ("file:///up", "file:///up"),
    ],
)
def test_a_repository_s_path_counts_from_the_project(tmp_path: Path, written: str, meant: str) -> None:
    expected = meant.format(root=tmp_path, home=Path.home())
    text = MINIMAL.replace("https://example.org/llama.cpp.git", json.dumps(written))
    found = [_load(tmp_path, text), _load(tmp_path, MINIMAL, SKIPPY_PATCHES_REPOSITORY=written)]
    for project in found:
        place = project.upstream.repository
        assert place == expected or Path(place) == Path(expected)


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """The folder a/b of a project."""
    (tmp_path / config.FILE_NAME).write_text(MINIMAL, encoding="utf-8")
    (tmp_path / "a/b").mkdir(parents=True)
    return tmp_path / "a/b"


def test_the_search_climbs_from_dots_and_links(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (deep.parent / "link").symlink_to("/")
    monkeypatch.chdir(deep)
    for start in ("", ".", "..", "../..", "../../a"):
        assert config.find(Path(start)) == deep.parents[1] / config.FILE_NAME
    with pytest.raises(UsageError, match=r"No skippy-patches\.yaml in / "):
        config.find(Path("../link"))


def test_the_search_begins_at_a_folder(deep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(deep.parents[1])
    with pytest.raises(UsageError, match=r"^nope does not exist\."):
        config.find(Path("nope"))
    with pytest.raises(UsageError, match=r"^skippy-patches\.yaml is not a folder\."):
        config.find(Path(config.FILE_NAME))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bands: {a: 1-20, b: 20-30}", "'bands.b' overlaps with 'a' (1-20)"),
        ("bands: {a: 30-20}", "'bands.a' must be two numbers"),
        ("bands: {a: 0-20}", "'bands.a' must be two numbers"),
        ("bands: {a: 1-20000}", "'bands.a' must be two numbers"),
        ("bands: {a: 7}", "'bands.a' must be two numbers"),
        ("bands: [a]", "'bands' must be a mapping"),
        ("pinned: [0021]", "'pinned' is written 0021, which YAML 1.1 reads as the octal number 17"),
        ("pinned: [coalesce]", "'pinned' must hold numbers or names of patches, not 'coalesce'"),
        ("pinned: [0021-a.patch/x]", "'pinned' must hold numbers or names of patches"),
        ("pinned: [0021-.patch]", "'pinned' must hold numbers or names of patches"),
        ("require: [Signed off by]", "'require' must hold names of trailers"),
    ],
)
def test_numbers_and_fields_that_mean_nothing(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as caught:
        _load(tmp_path, f"{MINIMAL}{line}\n")
    assert caught.value.line == 4


def _pinned_elsewhere(folder: Path, content: str) -> config.Project:
    (folder / "pin").mkdir(exist_ok=True)
    (folder / "pin/llama.cpp").write_text(content, encoding="utf-8")
    return _load(folder, MINIMAL.replace(f"commit: {COMMIT}", "commit_file: pin/llama.cpp"))


def test_the_pin_in_a_file_of_its_own(tmp_path: Path) -> None:
    for content in (COMMIT, f"{COMMIT.upper()}\r\n"):
        upstream = _pinned_elsewhere(tmp_path, content).upstream
        assert (upstream.commit, upstream.commit_file) == (COMMIT, tmp_path / "pin/llama.cpp")


@pytest.mark.parametrize("content", ["", "b10361\n", f"{COMMIT}\n{COMMIT}\n", "x" * 500])
def test_a_pin_file_that_holds_something_else(tmp_path: Path, content: str) -> None:
    with pytest.raises(
        ConfigError, match=r"'upstream\.commit_file' names .*, which must hold a full"
    ) as caught:
        _pinned_elsewhere(tmp_path, content)
    assert len(str(caught.value)) < 600


def test_a_pin_has_one_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'upstream\.commit_file' is given, and 'commit' too"):
        _load(tmp_path, f"{MINIMAL}  commit_file: pin\n")
    with pytest.raises(ConfigError, match=r"'upstream\.commit_file' names .* cannot be read: No such file"):
        _load(tmp_path, MINIMAL.replace(f"commit: {COMMIT}", "commit_file: nowhere"))
