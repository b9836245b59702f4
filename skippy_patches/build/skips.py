r"""Tests that pass while doing nothing: the one place that knows how their output looks.

ctest calls a test passed when its status is 0. Several of llama.cpp's tests end with 0 after saying that
they skipped (llama.cpp#13371), and many others print "skip" for one of their cases and have done real
work: test-opt says "Backend CPU sgd: SKIPPED", test-jinja "    Skipped: ...", test-llama-archs
"... is unsupported, skipping". So a pattern here matches a whole line, from its first column, that a test
prints only when it skips as a whole. Looked up in the tests' sources at b10361.
"""

from __future__ import annotations

import re

# As the terminal gets it, and as ctest writes ESC into XML.
_ESCAPES = re.compile(r"(?:\x1b|\[NON-XML-CHAR-0x1B\])\[[0-9;]*m")

PATTERNS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        # common_get_model_or_exit: test-model-load-cancel, test-autorelease, test-backend-sampler
        r"WARNING: No model file provided\. Skipping this test\..*",
        # test-backend-sampler
        r"Warning: failed to load model '.*', skipping test",
        # test-recurrent-state-rollback
        r"\w+ : skipping (?:for|because) .*",
        # test-gguf-model-data, and the form that the queue's own tests use
        r"SKIP(?:PED)?: .*",
    )
)
# test-backend-ops compares each backend with the CPU's, so on a machine without another it compares
# nothing: "Backend 1/1: CPU" and below it "  Skipping CPU backend".
_BACKEND = re.compile(r"^Backend \d+/\d+: .*\n(?P<skipped>  Skipping.*)?", re.MULTILINE)


def reason(output: str) -> str | None:
    """Why a test that passed did nothing, in its own words; None when it did something."""
    text = _ESCAPES.sub("", output)
    for line in text.splitlines():
        if any(pattern.fullmatch(line) for pattern in PATTERNS):
            return line
    backends = [match["skipped"] for match in _BACKEND.finditer(text)]
    if backends and all(backends):
        return "every backend was skipped: " + backends[0].strip()
    return None


def plain(output: str) -> str:
    """The output without colours."""
    return _ESCAPES.sub("", output)
