"""What is run, and what the runs must show. Times are compared within one process, or in turns A B B A."""

from __future__ import annotations

import dataclasses

ARMS = PER_CELL, COALESCED, LAST = "per-cell", "coalesced", "last"  # prefixes of the queue
EXPORT, IMPORT = "export", "import"
BULK, MEMCPY, STATE = "bulk", "memcpy", "state"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arm:
    """One side of a case. repeat: times in a process; 0: once, without a warm-up, for what takes minutes."""

    prefix: str
    only: tuple[str, ...] = (EXPORT, IMPORT)
    repeat: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """Runs that belong together. tokens: of the page; quick: fewer, for a trial. rounds: processes an arm."""

    name: str
    title: str
    arms: tuple[Arm, ...]
    tokens: int
    quick: int
    rounds: int = 1
    rpc: bool = False
    options: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Claim:
    """`against` takes at least `aim` times as long as the page on `arm`.

    against: another arm of the case, or what the same process measured (BULK, MEMCPY, STATE).
    bound: the claim against BULK or MEMCPY whose rate a page can hardly exceed.
    """

    case: str
    direction: str
    arm: str
    against: str
    aim: float
    bound: Claim | None = None


CHANNEL_MAJOR = ("--layout", "channel-major")
_WHOLE, _QUICK = 26_400, 1_650

CASES = (
    Case(
        name="rpc",
        title="RPC on loopback, token-major",
        arms=(
            Arm(prefix=PER_CELL),
            Arm(prefix=COALESCED, only=(EXPORT, IMPORT, BULK), repeat=6),
        ),
        tokens=_WHOLE,
        quick=_QUICK,
        rounds=2,
        rpc=True,
    ),
    Case(
        name="rpc-state",
        title="RPC on loopback, token-major",
        arms=(Arm(prefix=LAST, only=(EXPORT, IMPORT, STATE), repeat=4),),
        tokens=_WHOLE,
        quick=_QUICK,
        rpc=True,
    ),
    Case(
        name="rpc-channel",
        title="RPC on loopback, channel-major",
        arms=(Arm(prefix=LAST, only=(EXPORT, IMPORT, BULK), repeat=6),),
        tokens=_WHOLE,
        quick=_QUICK,
        rpc=True,
        options=CHANNEL_MAJOR,
    ),
    Case(
        name="rpc-channel-state",
        title="RPC on loopback, channel-major",
        arms=(Arm(prefix=LAST, only=(EXPORT, IMPORT, STATE), repeat=2),),  # a state takes a minute
        tokens=_WHOLE,
        quick=_QUICK,
        rpc=True,
        options=CHANNEL_MAJOR,
    ),
    Case(
        name="device",
        title="Simulated device, 9 us a call, token-major",
        arms=(Arm(prefix=PER_CELL), Arm(prefix=COALESCED, repeat=3)),
        tokens=_WHOLE,
        quick=_QUICK,
        rounds=6,
        options=("--us-per-call", "9"),
    ),
    Case(
        name="cpu",
        title="CPU memory, token-major",
        arms=(Arm(prefix=LAST, only=(EXPORT, IMPORT, MEMCPY), repeat=8),),
        tokens=_WHOLE,
        quick=_QUICK,
    ),
    Case(
        name="cpu-channel",
        title="CPU memory, channel-major",
        arms=(Arm(prefix=LAST, only=(EXPORT, IMPORT, MEMCPY), repeat=8),),
        tokens=_WHOLE,
        quick=_QUICK,
        options=CHANNEL_MAJOR,
    ),
    Case(
        name="rpc-fragmented",
        title="RPC on loopback, token-major, runs of 1",
        arms=(Arm(prefix=PER_CELL), Arm(prefix=LAST, repeat=4)),
        tokens=8_192,
        quick=1_024,
        rounds=2,
        rpc=True,
        options=("--pattern", "fragmented:1"),
    ),
)


def _both(
    case: str, arm: str, against: str, aim: float, bounds: tuple[Claim | None, Claim | None] = (None, None)
) -> tuple[Claim, Claim]:
    export, import_ = (
        Claim(case=case, direction=direction, arm=arm, against=against, aim=aim, bound=bound)
        for direction, bound in zip((EXPORT, IMPORT), bounds, strict=True)
    )
    return export, import_


_LINK = _both("rpc", COALESCED, BULK, 0.9)
_MEMORY = _both("cpu", LAST, MEMCPY, 0.9)

CLAIMS = (
    Claim(case="rpc", direction=EXPORT, arm=COALESCED, against=PER_CELL, aim=100, bound=_LINK[0]),
    Claim(case="rpc", direction=IMPORT, arm=COALESCED, against=PER_CELL, aim=50, bound=_LINK[1]),
    *_LINK,
    *_both("rpc-channel", LAST, BULK, 0.85),
    *_both("rpc-state", LAST, STATE, 1),
    *_both("rpc-channel-state", LAST, STATE, 1),
    *_both("device", COALESCED, PER_CELL, 70, _MEMORY),
    *_MEMORY,
    *_both("cpu-channel", LAST, MEMCPY, 0.9),
    *_both("rpc-fragmented", LAST, PER_CELL, 25, _LINK),
)
