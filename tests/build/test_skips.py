from __future__ import annotations

import pytest

from skippy_patches.build import skips

# As the tests of b10361 print them.
NOTHING_DONE = [
    "\x1b[33mWARNING: No model file provided. Skipping this test. Set LLAMACPP_TEST_MODELFILE=<path> "
    "to silence this warning and run this test.\n\x1b[0m",
    "[NON-XML-CHAR-0x1B][33mWARNING: No model file provided. Skipping this test. Set\n[NON-XML-CHAR-0x1B][0m",
    "Using device: CPU\nWarning: failed to load model 'x.gguf', skipping test\n",
    "main : skipping because n_rs_seq is disabled\n",
    "SKIP: could not fetch model metadata (no network or HTTP disabled)\n",
    "Testing 1 devices\n\nBackend 1/1: CPU\n"
    "  Skipping CPU backend\n1/1 backends passed\n\x1b[1;32mOK\x1b[0m\n",
]
WORK_DONE = [
    "",
    "  Backend CPU sgd: \x1b[0;33mSKIPPED\x1b[0m\n4/4 tests passed\n",
    "    Skipped: not implemented\nAll tests passed\n",
    "Skipping test 'top_k' on HIP backend (no backend TOP_K support)\nall tests passed\n",
    "test_backends: MoE model (dense) is unsupported, skipping\n",
    "skipping large tensors for speed \n",
    "Backend 1/2: CPU\n  Skipping CPU backend\n"
    "Backend 2/2: CUDA0\n  Device description: x\n  90/90 tests passed\n",
]


@pytest.mark.case(28)
@pytest.mark.parametrize("output", NOTHING_DONE)
def test_a_test_that_did_nothing(output: str) -> None:
    reason = skips.reason(output)

    assert reason
    assert "\x1b" not in reason


@pytest.mark.parametrize("output", WORK_DONE)
def test_a_skipped_case_is_not_a_skipped_test(output: str) -> None:
    assert skips.reason(output) is None
