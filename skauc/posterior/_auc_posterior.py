"""Posterior of the AUC of one linear model: a finite mixture (section 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from ..statistics._numbers import as_number, as_numbers, as_rate
from ._components import Components
from ._distribution import AUCDistribution, generator

_NORMAL_DF = 1e100  # √(χ²/df) = 1 ± 1e-50, exactly 1 in float64: Z is normal


@dataclass(frozen=True, eq=False, repr=False)
class AUCPosterior(AUCDistribution):
    """Posterior distribution of an AUC, with scipy's frozen-distribution verbs.

    Answers: how large is the true AUC of this model, and how sure are we? It is a
    finite mixture of components ``AUC = Φ((D √(χ²_df/q) + √v N)/√2)``; one for the
    common and spherical covariance, a few hundred for the separate one.

    Parameters
    ----------
    weight, D, v, q, df : ndarray of shape (n_components,)
        Weights that add up to 1, and the parameters of the components: difference of
        the projected means, ``1/ν₀* + 1/ν₁*``, projected scatter, degrees of freedom.
    choice_probit : float, default=None
        Probit of the selection score, by which candidates should be ranked, if that
        is not the mean (see ``choice``).
    leave_pair_out : float, default=None
        The AUC of the rows left out that entered; None if there was none.
    second_source : str, default=None
        How that AUC was made, such as ``".632+"`` or ``"leave-pair-out"``.
    warnings : tuple of str, default=()
        Why this posterior should not be trusted, a sentence each.

    Notes
    -----
    ``mean`` is CBAUC, ``Σ weight · T_df(D/√((2 + v) q/df))``. ``var`` adds the spread
    given χ², an integral of the bivariate Student t (Dunnett & Sobel 1954), and that
    over χ².
    ``cdf`` is a noncentral t probability, integrated over the narrower of its two
    sources of spread (the wider one in closed form), so that neither large samples nor
    separable data break it. 1 − AUC keeps its relative accuracy in
    ``swapped().mean()`` and ``mean_probit()``. Posteriors with equal fields are equal.

    References
    ----------
    Dunnett & Sobel (1954), https://doi.org/10.1093/biomet/41.1-2.153

    Examples
    --------
    >>> from skauc import AUCPosterior
    >>> posterior = AUCPosterior.from_cells(D=2.0, v=0.1, q=40.0, df=43)
    >>> round(posterior.mean(), 3), round(posterior.std(), 3)
    (0.92, 0.04)
    >>> low, high = posterior.interval(0.95)
    >>> round(low, 3), round(high, 3)
    (0.822, 0.977)
    """

    weight: np.ndarray
    D: np.ndarray
    v: np.ndarray
    q: np.ndarray
    df: np.ndarray
    choice_probit: float | None = None
    leave_pair_out: float | None = None
    second_source: str | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_cells(cls, D, v, q, df, weight=1.0) -> AUCPosterior:
        """Mixture from component parameters that broadcast against each other."""
        arrays = np.broadcast_arrays(*np.atleast_1d(weight, D, v, q, df))
        weight, D, v, q, df = (np.array(a, dtype=float) for a in arrays)
        return cls(weight, D, v, q, df)

    @classmethod
    def normal(cls, mean_probit, variance, **entered) -> AUCPosterior:
        """Posterior in which ``Z = Φ⁻¹(AUC)`` is normal.

        Parameters
        ----------
        mean_probit : float
            Φ⁻¹ of the posterior *mean* of the AUC. Because ``E Φ(Z) = Φ(m/√(1 + s²))``
            for ``Z ~ N(m, s²)``, the mean of Z lies farther out, at
            ``m = mean_probit √(1 + s²)``.
        variance : float
            s², the variance of Z; > 0.
        **entered
            ``choice_probit``, ``leave_pair_out``, ``second_source``, ``warnings``.

        Returns
        -------
        AUCPosterior

        Raises
        ------
        ValueError
            If the mean is not finite or the variance not positive and finite.

        Examples
        --------
        >>> from skauc import AUCPosterior
        >>> posterior = AUCPosterior.normal(0.0, 0.04)
        >>> low, high = posterior.interval(0.95)
        >>> posterior.mean(), round(low, 3), round(high, 3)
        (0.5, 0.348, 0.652)
        """
        mean_probit = as_number("mean_probit", mean_probit)
        variance = as_number("variance", variance)
        if not np.isfinite(mean_probit):
            raise ValueError(f"mean_probit must be finite, got {mean_probit}")
        if not 0 < variance < np.inf:
            raise ValueError(f"variance must be > 0 and finite, got {variance}")
        # E Φ(Z) = Φ(m/√(1 + s²)) = Φ(mean_probit) ⇒ m = mean_probit √(1 + s²), and with
        # √2 Z = D + √v N:  D = √2 m, v = 2s²
        D = np.sqrt(2) * mean_probit * np.sqrt(1 + variance)
        cell = 1.0, D, 2 * variance, _NORMAL_DF, _NORMAL_DF
        return cls(*np.reshape(cell, (5, 1)), **entered)

    @classmethod
    def point_mass_at_half(cls) -> AUCPosterior:
        """Posterior of a linear model that ranks nothing: AUC ½ for sure."""
        # Z = √(v/2) N is 0 to every digit; v = 0 itself would make 0/0 of its cdf
        return cls.from_cells(D=0.0, v=1e-300, q=1.0, df=1.0)

    def __repr__(self):
        low, high = self.interval(0.95)
        text = f"mean={self.mean():.4g}, interval95=({low:.4g}, {high:.4g})"
        if self.leave_pair_out is not None:
            text += f", leave_pair_out={self.leave_pair_out:.4g}"
        if self.second_source is not None:
            text += f", second_source={self.second_source!r}"
        if self.warnings:
            text += f", warnings={self.warnings!r}"
        return f"AUCPosterior({text})"

    @property
    def _components(self):
        return Components(self.weight, self.D, self.v, self.q, self.df)

    def _with_components(self, components, **entered):
        return replace(self, **vars(components), **entered)

    def swapped(self) -> AUCPosterior:
        """Posterior of 1 − AUC (the classes exchanged)."""
        choice, left_out = self.choice_probit, self.leave_pair_out
        return self._with_components(
            self._components.mirrored(),
            choice_probit=None if choice is None else -choice,
            leave_pair_out=None if left_out is None else 1 - left_out,
        )

    def mean(self) -> float:
        """Posterior mean of the AUC: CBAUC."""
        return self._components.mean()

    def mean_probit(self) -> float:
        """``Φ⁻¹(mean)`` without saturating where the mean rounds to 0 or 1."""
        return self._components.mean_probit()

    def choice(self, scale="auc") -> float:
        """Selection score: what the candidates of *one* data set are ranked by.

        The mean, unless the prior keeps a part of it that is common to all candidates
        of a data set out of their ranking (:class:`skauc.AdaptivePrior`).

        Parameters
        ----------
        scale : {"auc", "probit"}, default="auc"

        Returns
        -------
        float
        """
        if not isinstance(scale, str) or scale not in ("auc", "probit"):
            raise ValueError(f"scale must be 'auc' or 'probit', got {scale!r}")
        probit = self.choice_probit
        if probit is None:
            return self.mean() if scale == "auc" else self.mean_probit()
        return float(ndtr(probit)) if scale == "auc" else probit

    def probit_moments(self) -> tuple[float, float]:
        """Mean and variance of ``Z = Φ⁻¹(AUC)``."""
        return self._components.moments()

    def with_mean_and_scale(
        self,
        mean_probit,
        scale,
        *,
        choice_probit=None,
        leave_pair_out=None,
        second_source=None,
    ) -> AUCPosterior:
        """Posterior with another mean and spread: Z becomes ``shift + scale·Z``.

        Component by component, mean and variance of Z exactly: what of the variance
        rides on χ², ``D²V/2`` with ``V = (df − E[χ_df]²)/q``, changes with D, and v
        takes the rest (never less than a hundredth of its share). The shift is solved
        so that the posterior mean is ``Φ(mean_probit)``. Warnings are kept.

        Parameters
        ----------
        mean_probit : float
            Φ⁻¹ of the wanted posterior mean.
        scale : float
            Factor of the standard deviation of Z.
        choice_probit, leave_pair_out, second_source : default=None
            See the class.

        Returns
        -------
        AUCPosterior
        """
        return self._with_components(
            self._components.with_mean_and_scale(mean_probit, scale),
            choice_probit=choice_probit,
            leave_pair_out=leave_pair_out,
            second_source=second_source,
        )

    def moved(self, mean_probit, stretch, **entered) -> AUCPosterior:
        """Older name of :meth:`with_mean_and_scale`."""
        return self.with_mean_and_scale(mean_probit, stretch, **entered)

    def var(self) -> float:
        """Posterior variance of the AUC."""
        return self._components.variance()

    def cdf(self, x):
        """``P(AUC ≤ x | data)``, elementwise."""
        distribution = self._components.distribution
        return _on_probit_scale(x, distribution.cdf, below=0.0, above=1.0)

    def sf(self, x):
        """``P(AUC > x | data)``, elementwise, accurate when it is small."""
        # P(Z > z) = P(−Z < −z): a lower tail has digits that 1 − cdf has lost
        mirrored = self._components.mirrored().distribution

        def tail(z):
            return mirrored.cdf(-z)

        return _on_probit_scale(x, tail, below=1.0, above=0.0)

    def pdf(self, x):
        """Posterior density of the AUC on (0, 1), elementwise."""
        distribution = self._components.distribution

        def density(z):
            # dz/dx = 1/φ(z); as logarithms, because either factor may overflow
            with np.errstate(over="ignore", divide="ignore"):
                log_density = np.log(distribution.pdf(z)) + z**2 / 2
                return np.sqrt(2 * np.pi) * np.exp(log_density)

        return _on_probit_scale(x, density, below=0.0, above=0.0, open_ends=True)

    def ppf(self, q):
        """Quantiles of the AUC, elementwise."""
        q = as_rate("q", q)
        quantiles = [self._components.quantile(level) for level in q.ravel()]
        return np.reshape(ndtr(quantiles), q.shape)[()]

    def rvs(self, size=None, random_state=None):
        """Draws from the posterior of the AUC.

        Parameters
        ----------
        size : int or tuple of int, default=None
            Shape of the result; None gives one float.
        random_state : int, Generator, RandomState or None, default=None

        Returns
        -------
        float or ndarray
        """
        return self._components.draw(size, generator(random_state))

    def _rows(self, confidence_level):
        return {"AUC": self._summary(confidence_level) | self._entered()}

    def _entered(self):
        """What entered beside the model: columns of a table."""
        return {
            "leave_pair_out": self.leave_pair_out,
            "second_source": self.second_source,
            "warnings": self.warnings,
        }


def _on_probit_scale(x, function, *, below, above, open_ends=False):
    x = as_numbers("x", x)
    inside = (x > 0) & (x < 1) if open_ends else (x >= 0) & (x <= 1)
    # x outside the support lies either left of 0 or right of 1
    out = np.where(np.isnan(x), np.nan, np.where(x <= 0.5, below, above))
    out[inside] = [function(z) for z in ndtri(x[inside])]
    return out[()]
