"""The same statistics over Dask collections.

A sum over rows is written once, as a function of a block (``statistics._row_blocks``).
This folder splits Dask arrays and data frames into blocks, so that sums are computed on
the worker that holds the rows and merged in a tree. Dask is imported only when a
collection is passed.
"""
