"""The same statistics over Dask collections.

A sum over rows is written once, for one block (``statistics._row_blocks``). Here the
blocks of Dask arrays and data frames are opened, so that the sums are computed on the
worker that holds the rows and merged in a tree. Dask is imported when a collection
comes in, not before.
"""
