"""Blocks of rows."""

from skauc.statistics._numerics import BLOCK_BYTES, block_rows, parts_of


def test_blocks():
    assert block_rows(4) * 4 * 8 == BLOCK_BYTES
    assert block_rows(10**9) == 1
    assert block_rows(10**9, least=7) == 7
    assert [(p.start, p.stop) for p in parts_of(5, 2)] == [(0, 2), (2, 4), (4, 6)]
