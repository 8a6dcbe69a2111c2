"""The two samples of scores where only the sums of their ranks are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..statistics._moments import Moments
from ..statistics._rank_sums import RankSums
from ..statistics._ranks import bamber_of_sums
from ._block_ranks import rank_sums
from ._sample import RankedSample


@dataclass(frozen=True, eq=False)
class BlockSample(RankedSample):
    """Rows that came in blocks: sizes, and what their ranks add up to.

    What needs the scores one by one raises.

    Parameters
    ----------
    sums : RankSums
    sizes : tuple
        Rows of each class, or the sums of their weights.
    fraction : float or None
        A weight that is no whole number.
    """

    sums: RankSums
    sizes: tuple[float, float]
    fraction: float | None
    weight_neg = weight_pos = cluster_neg = cluster_pos = None

    @classmethod
    def from_blocks(cls, blocks, pos_label=None, name="y_score") -> BlockSample:
        """Rank the scores of all blocks; ``name`` is what to call them."""
        return cls.from_sums(*rank_sums(blocks, pos_label, name))

    @classmethod
    def from_sums(cls, sums, classes) -> BlockSample:
        """The sums of all rows of two classes."""
        return cls(sums, (classes.n_neg, classes.n_pos), classes.fraction)

    @property
    def auc(self) -> float:
        """Share of pairs ranked rightly, ties ½."""
        return self.sums.auc

    @property
    def delong_variance(self) -> float:
        """DeLong's."""
        self.check_two()
        (n_neg, n_pos), (spread01, spread10) = self.sizes, self.sums.spreads
        # Σ (V − A)²/{n(n − 1)} of each class, a spread being Σ (V − A)²/n
        return spread01 / (n_neg - 1) + spread10 / (n_pos - 1)

    @property
    def bamber_variance(self) -> float:
        """Bamber's unbiased variance."""
        sums = self.sums
        tied = sums.tied_pairs / (sums.n_neg * sums.n_pos)
        return bamber_of_sums(sums.auc, tied, *sums.spreads, *self.sizes)

    @property
    def moments(self) -> tuple[Moments, Moments] | None:
        """Of the scores in units of the largest; None if that is infinite."""
        return self.sums.moments

    @property
    def neg(self) -> np.ndarray:
        """Not kept."""
        raise ValueError(
            "this needs the scores one by one, of which blocks and collections leave "
            "sums only; pass arrays of all rows, or of a sample of them"
        )

    pos = counts = placements = points = neg
