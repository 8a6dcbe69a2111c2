"""Ranks that add up: sorted runs of scores, and the sums of their placements.

*Runs* are the different scores in order and how many rows of each class have them; the
runs of two parts merge into those of both. Cut at the same edges, the parts of all
blocks that lie between two edges merge without the others, and what the ranks of such a
range ``a`` say are seven sums: its rows n₀ and n₁, twice the pairs in order ``h``
(ties once), tied pairs, and the sums of squares ``S₁₀, S₀₁`` of the half pairs of its
positives and negatives around their means ``h/n₁`` and ``h/n₀``. A range ``b`` above
moves all its positives up by ``2 n₀ₐ`` and all negatives of ``a`` by ``2 n₁ᵦ``, so

    h = h_a + h_b + 2 n₀ₐ n₁ᵦ,
    S₁₀ = S₁₀ₐ + S₁₀ᵦ + (h_b/n₁ᵦ + 2 n₀ₐ − h_a/n₁ₐ)² n₁ₐ n₁ᵦ/n₁,

and S₀₁ alike: Chan, Golub & LeVeque's merge. Counts are whole numbers throughout; the
sums of squares are centred, and nothing cancels. Then ``A = h/(2 n₀ n₁)`` and DeLong's
variance is ``S₁₀/((2n₀)² n₁(n₁ − 1)) + S₀₁/((2n₁)² n₀(n₀ − 1))``.

References: Chan, Golub & LeVeque (1983), https://doi.org/10.1080/00031305.1983.10483115;
DeLong, DeLong & Clarke-Pearson (1988), https://doi.org/10.2307/2531595.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ._block import add_all
from ._moments import Moments
from ._values import Value

_LARGEST = 2**63  # that int64 holds


@dataclass(frozen=True, eq=False)
class Runs:
    """Different scores in order, and the rows of each class that have them.

    Parameters
    ----------
    value : ndarray of shape (d,)
        Increasing; ±inf are allowed.
    count : ndarray of shape (d, L)
        Rows of each of L classes, whole numbers or sums of weights.
    """

    value: np.ndarray
    count: np.ndarray

    @classmethod
    def of(cls, value, count) -> Runs:
        """Sort scores of any order and add up the counts of equal ones."""
        order = np.argsort(value)
        value = value[order]
        # The first of each run of equal scores; no row has none
        first = np.flatnonzero(np.r_[True, value[1:] != value[:-1]][: len(value)])
        wide = float if count.dtype.kind == "f" else np.int64
        if len(value) == 0:
            return cls(value, count.astype(wide))
        if len(first) == len(value):  # no ties: nothing to add
            return cls(value, count[order].astype(wide))
        return cls(value[first], np.add.reduceat(count[order], first, dtype=wide))

    @classmethod
    def merged(cls, parts) -> Runs:
        """Runs of all rows of several parts."""
        return cls.of(
            np.concatenate([part.value for part in parts]),
            np.concatenate([part.count for part in parts]),
        )

    def __len__(self):
        return len(self.value)

    def __sizeof__(self):
        """Bytes of the arrays: what a scheduler counts as held or sent."""
        return self.value.nbytes + self.count.nbytes

    def cut(self, edges) -> list[Runs]:
        """The runs from each edge to below the next; to the end if that is inf."""
        # "Below the next edge" leaves out scores of inf, which belong to the last range
        at = np.searchsorted(self.value, edges)
        at[-1] = len(self) if np.isinf(edges[-1]) else at[-1]
        return [
            Runs(self.value[low:high], self.count[low:high])
            for low, high in pairwise(at)
        ]

    def packed(self) -> Runs:
        """The same in the smallest types that hold it, to travel: 6 to 10 bytes."""
        with np.errstate(over="ignore"):  # then it is not lossless
            single = self.value.astype(np.float32)
        lossless = (single == self.value).all()
        return Runs(single if lossless else self.value, packed(self.count))


@dataclass(frozen=True, eq=False)
class RankSums(Value):
    """What the ranks of the rows within a range of scores add up to.

    ``a + b`` are those of both ranges, **b above a**.

    Parameters
    ----------
    n_neg, n_pos : int or float
        Rows, or sums of weights.
    half_pairs : int or float
        Twice the pairs whose positive is above, ties once.
    tied_pairs : int or float
    scatter01, scatter10 : float
        Sums of squares of the half pairs of the negatives and of the positives, around
        their means.
    moments : tuple of Moments, or None
        Of the scores of both classes, in a unit that all ranges share; None where some
        are infinite.
    """

    n_neg: float
    n_pos: float
    half_pairs: float
    tied_pairs: float
    scatter01: float
    scatter10: float
    moments: tuple[Moments, Moments] | None

    @classmethod
    def of(cls, runs, unit) -> RankSums:
        """Sums of one range.

        Parameters
        ----------
        runs : Runs
            Of two classes, the negatives first.
        unit : float
            Size of the largest score of all ranges; inf for no moments.

        Returns
        -------
        RankSums
        """
        neg, pos = runs.count.T
        n_neg, n_pos = neg.sum().item(), pos.sum().item()
        if 2 * n_neg * n_pos >= _LARGEST:
            # Half pairs that int64 cannot hold
            neg, pos = neg.astype(float), pos.astype(float)
        # h = Σ_pos (2 · negatives below + ties),   tied pairs = Σ_runs n₀ n₁
        below, above = half_pairs(runs)
        pairs = (below @ pos).item()
        return cls(
            n_neg,
            n_pos,
            pairs,
            (neg @ pos).item(),
            _scatter(above, neg, pairs, n_neg),
            _scatter(below, pos, pairs, n_pos),
            _score_moments(runs, unit),
        )

    def __add__(self, above: RankSums) -> RankSums:
        # Each negative below meets each positive above: 2 n₀ₐ n₁ᵦ half pairs more
        n_neg, n_pos = self.n_neg + above.n_neg, self.n_pos + above.n_pos
        between = 2 * self.n_neg * above.n_pos
        moments = None
        if self.moments is not None and above.moments is not None:
            moments = add_all([self.moments, above.moments])
        return RankSums(
            n_neg,
            n_pos,
            self.half_pairs + above.half_pairs + between,
            self.tied_pairs + above.tied_pairs,
            self.scatter01 + above.scatter01 + _gap(self, above, "n_neg", "n_pos"),
            self.scatter10 + above.scatter10 + _gap(above, self, "n_pos", "n_neg"),
            moments,
        )

    @property
    def auc(self) -> float:
        """Share of pairs ranked rightly, ties ½."""
        # A = h/(2 n₀ n₁); sums of weights may round past 1
        return min(self.half_pairs / (2 * self.n_neg * self.n_pos), 1.0)

    @property
    def spreads(self) -> tuple[float, float]:
        """Mean squared deviations of the placements ``V₀₁`` and ``V₁₀``."""
        return (
            self.scatter01 / self.n_neg / (2 * self.n_pos) ** 2,
            self.scatter10 / self.n_pos / (2 * self.n_neg) ** 2,
        )


# Of a block, and up to sixteen times as many of several: ranges of 1000 blocks came out
# within 10 % of equal, also where the scores come in order
_QUANTILES = 1024


@dataclass(frozen=True, eq=False)
class Evenly:
    """Some scores at equal shares of a mass; those of two parts add up.

    Parameters
    ----------
    value : ndarray of shape (m,)
        Increasing.
    mass : ndarray of shape (m,)
        What each stands for.
    number : ndarray of shape (m,) or None
        Of the row among all, where that is asked.
    thins : bool
        Whether some stand for all where they are many.
    """

    value: np.ndarray
    mass: np.ndarray
    number: np.ndarray | None = None
    thins: bool = True

    @classmethod
    def of(cls, value, mass=None, number=None, thins=True) -> Evenly:
        """Of the scores of one block, in any order; None for a mass of 1 each."""
        mass = np.ones(len(value)) if mass is None else mass
        most = _QUANTILES if thins else np.inf
        return cls._thinned(value, mass, number, most, _QUANTILES)

    def __add__(self, other):
        number = None
        if self.number is not None:
            number = np.concatenate([self.number, other.number])
        value = np.concatenate([self.value, other.value])
        mass = np.concatenate([self.mass, other.mass])
        most = 16 * _QUANTILES if self.thins else np.inf
        return Evenly._thinned(value, mass, number, most, 8 * _QUANTILES)

    @classmethod
    def _thinned(cls, value, mass, number, most, kept):
        """So many of more than ``most``, at equal shares of the mass."""
        order = np.argsort(value, kind="stable")
        if len(order) > most:
            reach = np.cumsum(mass[order])
            # The middles of equal shares, each standing for the whole of its share
            places = (np.arange(kept) + 0.5) / kept * reach[-1]
            order, mass = order[np.searchsorted(reach, places)], reach[-1] / kept
            mass = np.full(kept, mass)
        else:
            mass = mass[order]
        number = None if number is None else number[order]
        return cls(value[order], mass, number, np.isfinite(most))

    def edges(self, n_ranges) -> np.ndarray:
        """Scores between which about equally much lies, from −inf to inf."""
        wanted = np.arange(1, n_ranges) / n_ranges * self.mass.sum()
        at = np.searchsorted(np.cumsum(self.mass), wanted)
        # Equal scores must not be parted, and −inf and inf are edges already
        inner = np.unique(self.value[at])
        return np.r_[-np.inf, inner[np.isfinite(inner)], np.inf]


def packed(count):
    """Whole numbers >= 0 in the smallest type that holds them; others as they are."""
    if count.dtype.kind == "f":
        return count
    return count.astype(np.min_scalar_type(-int(count.max(initial=0)) - 1))


def half_pairs(runs):
    """Twice the negatives below each run, and the positives above it; ties once."""
    neg, pos = runs.count.T
    below, above = np.zeros_like(neg), np.zeros_like(pos)
    # below_k = Σ_{j<k} n₀ⱼ,  above_k = Σ_{j>k} n₁ⱼ; twice these and the ties of run k
    np.cumsum(neg[:-1], out=below[1:])
    np.cumsum(pos[:0:-1], out=above[-2::-1])
    return 2 * below + neg, 2 * above + pos


def _scatter(half_pairs, count, total, n):
    """``Σ count (half pairs − mean)²``; their sum is known."""
    return (count @ (half_pairs - total / n) ** 2).item() if n else 0.0


def _gap(moved, other, own, others):
    """``(mean of the moved + 2 n_other − mean of the rest)² n_a n_b/n`` of a class."""
    a, b = getattr(moved, own), getattr(other, own)
    if not (a and b):
        return 0.0
    # Difference of the means of both ranges, after one of them was moved up
    gap = moved.half_pairs / a + 2 * getattr(other, others) - other.half_pairs / b
    return gap**2 * a * (b / (a + b))


def _score_moments(runs, unit):
    if np.isinf(unit):
        return None
    value = runs.value.astype(float) / unit  # they may have travelled in float32
    neg, pos = (Moments.from_samples(value, count) for count in runs.count.T)
    return neg, pos
