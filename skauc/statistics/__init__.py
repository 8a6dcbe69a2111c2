"""Moments, ranks and rows in blocks of data; and how results are shown.

This folder imports no other folder, and neither scikit-learn nor Dask.

**1. Two samples, six numbers.** For each class: ``n`` the sum of the (frequency)
weights, the mean ``x̄`` and the scatter ``W = Σ w (x − x̄)(x − x̄)ᵀ``, sums of squares
that are not divided. Two parts a, b of one class merge by

    n = n_a + n_b,   x̄ = x̄_a + δ n_b/n,   W = W_a + W_b + δδᵀ n_a n_b/n,   δ = x̄_b − x̄_a

(Chan, Golub & LeVeque 1983), so moments stream and add up across workers. Within one
array the rows of a class are read in blocks, with one symmetric product per block,

    W = Σ w (x − o)(x − o)ᵀ − n (x̄ − o)(x̄ − o)ᵀ.

The origin o is 0, or the mean of the first rows if that is more than a deviation away
from 0 for some feature. If the second term is more than nine tenths of the first one at
the end, the sums are computed again around the mean. At most one digit cancels. The
products of a sparse matrix are summed around 0, unless more than four digits cancel.

**2. Rows in blocks.** A function of one block is summed over all blocks, one after the
other, by threads, or as a tree of Dask tasks; the caller gets the sum. Labels, weights
and scores are gathered as arrays of n numbers; features stay in their blocks, except
sampled rows. Three sums are enough: class moments, likelihood terms
(:mod:`skauc.estimators`), and products ``X w`` and ``gᵀX``.

**3. Range.** Features, scores and weights are 0 or between 1e-70 and 1e70 in size, so
that their fourth powers are floats; everything else is refused.

Reference: Chan, Golub & LeVeque, https://doi.org/10.1080/00031305.1983.10483115.
"""
