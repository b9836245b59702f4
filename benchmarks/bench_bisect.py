"""How a search's CPU grows with the history and with the patch: `python benchmarks/bench_bisect.py [RUNS]`.

On generated histories. Exit status 1 when a search needs more than its limit times the CPU of another one, or
of `git bisect run` with `bisect --once`, children included.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

from side_by_side import environment, medians, report

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.bisect.past import Step, line, make, source
from tests.world import World

FILES = 2500  # about what llama.cpp has
STEPS = 3000
CHAIN = 12  # patches of one file, one block each: the last may stand on all before it
ALONE, LAST = CHAIN + 1, CHAIN
TENTH = "alone, a tenth of the commits"
CASES = {"alone": ALONE, f"on {CHAIN - 1} others": LAST}
# (case, other case) -> how many times its CPU. Ten times the commits are four questions more.
LIMITS = {("alone", TENTH): 1.6, (f"on {CHAIN - 1} others", "alone"): 7.0, ("alone", "git bisect run"): 0.33}


def main() -> int:
    """Measure, print both tables and judge."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory(prefix="bench-bisect-") as name:
        os.environ.update(HOME=name, GIT_CONFIG_NOSYSTEM="1")
        world = _world(Path(name))
        taken = medians(_commands(world), environment(Path(name)), runs)
    report(taken, {})
    return _judge(taken)


def _world(folder: Path) -> World:
    """A queue, and an upstream that breaks the last patch of each file after two thirds of its commits."""
    names = [f"c{number}" for number in range(1, STEPS + 1)]
    files = {f"lib/{number % 50}/{number}.cpp": f"int x{number};\n" for number in range(FILES)}
    breaks = STEPS * 2 // 3
    changes = {}
    for number, name in enumerate(names):  # the file of the chain changes in each commit, behind the blocks
        word = "theirs" if number >= breaks else "end"
        changes[name] = {"src/a.cpp": f"{source(b12=word)}// {name}\n"}
    changes[names[breaks]] |= {"src/b.cpp": source(b5="theirs")}
    pin = Step(name="b1", files={**files, "src/a.cpp": source(), "src/b.cpp": source()}, parents=[])
    make(folder / "upstream", [pin, *line(" ".join(names), "b1", changes)], head="b1")
    world = World.create(folder / "project", folder / "upstream")
    mine: dict[str, str] = {}
    for number in range(1, CHAIN + 1):
        mine[f"b{number}"] = "mine"
        world.add(number, "chain", {"src/a.cpp": source(**mine)})
    world.add(ALONE, "alone", {"src/b.cpp": source(b5="mine")})
    return world


def _commands(world: World) -> dict[str, list[str]]:
    program = [
        sys.executable,
        str(Path(sysconfig.get_path("scripts")) / "skippy-patches"),
        "-C",
        str(world.root),
    ]
    breaks = STEPS * 2 // 3
    tenth = ("--good", f"c{breaks - STEPS // 20}", "--bad", f"c{breaks + STEPS // 20}")
    cases = {name: [*program, "bisect", str(number), "--bad", f"c{STEPS}"] for name, number in CASES.items()}
    start = f"git bisect start --no-checkout c{STEPS} b1 && trap 'git bisect reset' EXIT"
    run = [*program, "bisect", str(ALONE), "--once"]
    return {
        TENTH: [*program, "bisect", str(ALONE), *tenth],
        **cases,
        "git bisect run": [
            "sh",
            "-c",
            f'cd "$0" && {start} && git bisect run "$@"',
            str(world.upstream),
            *run,
        ],
    }


def _judge(taken: dict[str, float]) -> int:
    print(f"\n{'against':48} {'ratio':>7} {'limit':>7}")
    over = False
    for (case, other), limit in LIMITS.items():
        ratio = taken[case] / taken[other]
        over = over or ratio > limit
        told = "  over the limit" if ratio > limit else ""
        print(f"{f'{case}, against {other}':48} {ratio:7.2f} {limit:7.2f}{told}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
