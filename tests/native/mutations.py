"""Faults that a test of the queue must find: each is one edit of the applied sources."""

from __future__ import annotations

from tests.native.mutant import Mutation

_ABI = "test-skippy-kv-page-abi"
_TRANSFER = "test-skippy-kv-page-transfer"
_FAMILIES = "test-skippy-kv-page-families"

_PAGE = "src/llama-kv-page.cpp"
_IO = "src/llama-kv-page-io.cpp"
_MOVE = "src/llama-kv-page-transfer.cpp"
_STAGE = "src/llama-kv-page-stage.cpp"

MUTATIONS = (
    Mutation(
        name="align-one-too-far",
        file=_PAGE,
        old="kv_page_add(a, n - 1, res)",
        new="kv_page_add(a, n, res)",
        why="A block that is aligned already moves on: pages of two builds would not fit each other.",
        test=_ABI,
    ),
    Mutation(
        name="first-stream",
        file=_PAGE,
        old="const uint32_t stream = kv.seq_to_stream[seq_id];",
        new="const uint32_t stream = 0*kv.seq_to_stream[seq_id];",
        why="Every sequence would move the bytes of the first one.",
        test=_TRANSFER,
    ),
    Mutation(
        name="copies-nothing",
        file=_MOVE,
        old="            if (payload.src) {\n",
        new="            if (true) {\n            } else if (payload.src) {\n",
        why="The classic: in a cache of zeros nobody notices.",
        test=_TRANSFER,
    ),
    Mutation(
        name="swaps-two-runs",
        file=_MOVE,
        old="    return res;\n}\n\nstatic llama_kv_page_block kv_page_block_k",
        new="    if (res.size() > 1 && res[0].n == res[1].n) {\n"
        "        std::swap(res[0].cell, res[1].cell);\n"
        "    }\n"
        "    return res;\n}\n\nstatic llama_kv_page_block kv_page_block_k",
        why="The right bytes at the wrong positions.",
        test=_TRANSFER,
    ),
    Mutation(
        name="off-by-one-element",
        file=_MOVE,
        old="(run.cell  + j)*block.unit;",
        new="(run.cell + j + (run.cell > 0 ? -1 : 0))*block.unit;",
        why="Each run but the one of cell 0 would begin a cell too early.",
        test=_TRANSFER,
    ),
    Mutation(
        name="run-one-too-long",
        file=_MOVE,
        old="res.back().cell + res.back().n == cells[i].idx",
        new="res.back().cell + res.back().n + 1 >= cells[i].idx",
        why="A hole of one cell would be taken for a part of the run.",
        test=_TRANSFER,
    ),
    Mutation(
        name="chunk-forgets-its-place",
        file=_MOVE,
        old="(run.token + j)*block.unit",
        new="run.token*block.unit",
        why="All chunks of a long run would land on the first one.",
        test=_TRANSFER,
    ),
    Mutation(
        name="last-channel",
        file=_MOVE,
        old="return { v, layer.v_width, unit,",
        new="return { v, layer.v_width - 1, unit,",
        why="One channel of V would keep what was there before.",
        test=_TRANSFER,
    ),
    Mutation(
        name="gaps-not-cleared",
        file=_IO,
        old="        memset(payload + cursor, 0, offset - cursor);\n",
        new="",
        why="Bytes of the process would leave with the page, and the same state would give other pages.",
        test=_TRANSFER,
    ),
    Mutation(
        name="does-not-wait",
        file=_IO,
        old="    ctx.synchronize();\n\n"
        "    llama_kv_page_stage stage(ctx.get_sched(), runs, /*is_import =*/ false);",
        new="    llama_kv_page_stage stage(ctx.get_sched(), runs, /*is_import =*/ false);",
        why="A device that still computes would be read too early.",
        test=_TRANSFER,
    ),
    Mutation(
        name="no-roll-back",
        file=_IO,
        old="        cells.rm(tokens[missing[i]].idx);",
        new="        (void) cells; (void) tokens;",
        why="A failed import would leave tokens without data behind.",
        test=_TRANSFER,
    ),
    Mutation(
        name="writes-shared-cells",
        file=_IO,
        old="cells.seq_count(it->idx) > 1",
        new="false",
        why="Another sequence would find other data in its cells.",
        test=_TRANSFER,
    ),
    Mutation(
        name="checksum-not-compared",
        file=_IO,
        old="llama_kv_page_checksum(payload, size) == header.payload_checksum",
        new="true",
        why="A page that was damaged on its way would be used.",
        test=_TRANSFER,
    ),
    Mutation(
        name="staged-rows-shifted",
        file=_STAGE,
        old="cells.push_back(run.cell + i);",
        new="cells.push_back(run.cell + (i + 1) % run.n);",
        why="The tokens of a run would be gathered in another order.",
        test=_TRANSFER,
    ),
    Mutation(
        name="staged-gap-counted-wrong",
        file=_STAGE,
        old="const size_t slot = res.n_slots - run.n;",
        new="const size_t slot = res.spans.back().slot;",
        why="Tokens behind a gap that was read along would be taken from its beginning.",
        test=_TRANSFER,
    ),
    Mutation(
        name="staged-lines-all-the-first",
        file=_STAGE,
        old="i_line*block.stride_tensor, block.tensor->type,",
        new="0*i_line*block.stride_tensor, block.tensor->type,",
        why="Every chunk of channels would be scattered over the first one.",
        test=_TRANSFER,
    ),
    Mutation(
        name="masked-tokens-stay",
        file=_PAGE,
        old="std::max(select.pos_begin, llama_kv_page_window_begin(kv, kv.seq_pos_max(select.seq_id)))",
        new="select.pos_begin",
        why="The page of a window would depend on what happens to be left in the cache.",
        test=_FAMILIES,
    ),
    Mutation(
        name="window-of-the-next-token",
        file=_PAGE,
        old="llama_kv_page_window_begin(kv, kv.seq_pos_max(select.seq_id))",
        new="llama_kv_page_window_begin(kv, kv.seq_pos_max(select.seq_id) + 1)",
        why="Who imports the page and computes the last token again would get other logits.",
        test=_FAMILIES,
    ),
    Mutation(
        name="recurrent-state-forgotten",
        file=_PAGE,
        old="kv, SKIPPY_KV_COMPONENT_PLAIN, SKIPPY_KV_PAGE_STATE_BLOB)",
        new="kv, SKIPPY_KV_COMPONENT_PLAIN, 0)",
        why="A page of a hybrid model would look complete.",
        test=_FAMILIES,
    ),
)
