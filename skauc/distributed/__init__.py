"""The same statistics over Dask collections.

A sum over rows is written once, for a block (``statistics._row_blocks``); here the
blocks of Dask arrays and data frames are opened, so that the sums are taken where the
rows are and merged in a tree. Dask is imported when a collection comes in, not before.
"""

from ._dask_blocks import DaskBlocks

__all__ = ["DaskBlocks"]
