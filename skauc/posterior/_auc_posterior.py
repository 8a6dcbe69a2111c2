"""Posterior of the AUC of one linear model or several: finite mixtures (section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from ..statistics._checks import as_numbers, check_interval, check_numbers, check_option
from ..statistics._result import MOMENTS, Estimates
from ..statistics._wald import Interval
from ._components import Components
from ._distribution import AUCDistribution

NORMAL_DF = 1e100  # √(χ²/df) = 1 ± 1e-50, exactly 1 in float64: Z is normal


@dataclass(frozen=True, eq=False, repr=False)
class AUCPosterior(AUCDistribution):
    """Posterior distribution of an AUC, used like a scipy distribution.

    Answers: how large is the true AUC of this model, and how certain is it? Begin with
    ``mean()``, ``interval(0.95)`` and ``warnings``. The distribution is a finite
    mixture of components ``AUC = Φ((D √(χ²_df/q) + √v N)/√2)``, where N is standard
    normal. A common covariance gives one component, separate covariances give a few
    hundred.

    Attributes
    ----------
    weight, D, v, q, df : ndarray of shape (n_components,)
        Weights of the components, which add up to 1, and their parameters: the
        difference D of the projected means, v = ``1/ν₀* + 1/ν₁*``, the projected
        scatter q and the degrees of freedom df.
    choice_probit : float, default=None
        Probit of the score by which candidates are ranked, if it is not the mean (see
        ``choice``).
    leave_pair_out : float, default=None
        AUC of rows left out of the fit, if the posterior uses one; otherwise None.
    second_source : str, default=None
        Method that computed this AUC: ``"leave-pair-out"``, ``"out-of-bag"``,
        ``"refits"``, ``"folds"``, ``"group pairs"`` or ``"group folds"``.
    warnings : tuple of str, default=()
        Reasons why this posterior is doubtful, one text per reason.
    rows : str, default=None
        Whether the rows trained the model and how that is known, for example
        ``"training (detected)"``.
    pos_label : label, default=None
        The positive class; None if it is not known.

    See Also
    --------
    skauc.auc_posterior : Makes it, for a fitted model.
    skauc.results.PairwiseAUCPosterior : The same for more than two classes.
    skauc.auc_difference_posterior : Which of two models is better.
    skauc.AUCPosteriorDisplay : Draws the densities of several models.

    Notes
    -----
    ``mean`` is CBAUC [1]_, ``Σ weight · T_df(D/√((2 + v) q/df))``. ``var`` is the sum
    of the mean variance given χ², an integral of the bivariate Student t [2]_, and the
    variance over χ². ``cdf`` is a noncentral t probability, integrated numerically over
    χ² and in closed form over N. Its absolute error is about 1e-12, for large samples
    and for separable data as well. 1 − AUC keeps its relative accuracy in
    ``swapped().mean()`` and ``mean_probit()``.

    References
    ----------
    .. [1] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771
    .. [2] Dunnett & Sobel (1954), "A bivariate generalization of Student's
       t-distribution", https://doi.org/10.1093/biomet/41.1-2.153

    Examples
    --------
    >>> from skauc.results import AUCPosterior
    >>> posterior = AUCPosterior.from_components(D=2.0, v=0.1, q=40.0, df=43)
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
    rows: str | None = None
    pos_label: Any = None

    @classmethod
    def from_components(
        cls,
        D: ArrayLike,
        v: ArrayLike,
        q: ArrayLike,
        df: ArrayLike,
        weight: ArrayLike = 1.0,
    ) -> AUCPosterior:
        """Mixture from the parameters of its components, which broadcast.

        Parameters
        ----------
        D, v, q, df, weight : float or array-like of shape (n_components,)
            See the class; ``df >= 1``.

        Returns
        -------
        AUCPosterior

        Raises
        ------
        ValueError
            If a number of degrees of freedom is below 1.
        """
        arrays = np.broadcast_arrays(*np.atleast_1d(weight, D, v, q, df))
        weight, D, v, q, df = (np.array(a, dtype=float) for a in arrays)
        return cls(weight, D, v, q, check_numbers("df", df, 1))

    @classmethod
    def normal(
        cls, mean_probit: float, variance: float, **entered: Any
    ) -> AUCPosterior:
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
            ``choice_probit``, ``leave_pair_out``, ``second_source``, ``warnings``,
            ``rows``, ``pos_label``.

        Returns
        -------
        AUCPosterior

        Raises
        ------
        ValueError
            If the mean is not finite or the variance not positive and finite.

        Examples
        --------
        >>> from skauc.results import AUCPosterior
        >>> posterior = AUCPosterior.normal(0.0, 0.04)
        >>> low, high = posterior.interval(0.95)
        >>> posterior.mean(), round(low, 3), round(high, 3)
        (0.5, 0.348, 0.652)
        """
        mean_probit = check_interval("mean_probit", mean_probit, closed="neither")
        variance = check_interval("variance", variance, 0, closed="neither")
        # E Φ(Z) = Φ(m/√(1 + s²)) = Φ(mean_probit) ⇒ m = mean_probit √(1 + s²), and with
        # √2 Z = D + √v N:  D = √2 m, v = 2s²
        D = np.sqrt(2) * mean_probit * np.sqrt(1 + variance)
        component = 1.0, D, 2 * variance, NORMAL_DF, NORMAL_DF
        return cls(*np.reshape(component, (5, 1)), **entered)

    def _head(self):
        head = super()._head()
        if self.rows is not None:
            head["rows"] = repr(self.rows)
        if self.leave_pair_out is not None:
            method = f" ({self.second_source})" if self.second_source else ""
            head["rows_left_out"] = f"{self.leave_pair_out:.4g}{method}"
        if self.warnings:
            head["warnings"] = repr(self.warnings)
        return head

    @property
    def _components(self):
        return Components(self.weight, self.D, self.v, self.q, self.df)

    def swapped(self) -> AUCPosterior:
        """Posterior of 1 − AUC (the classes exchanged)."""
        choice, left_out = self.choice_probit, self.leave_pair_out
        return replace(
            self,
            D=-self.D,
            choice_probit=None if choice is None else -choice,
            leave_pair_out=None if left_out is None else 1 - left_out,
            pos_label=None,
        )

    def mean(self) -> float:
        """Posterior mean of the AUC: CBAUC.

        Under :class:`skauc.AdaptivePrior` an AUC of rows left out below ½, of a model
        whose own mean difference has the other sign, counts as ½. Labels of pure noise
        then have a mean of ½ + .02 to .04; without this rule, which spares a fifth of
        the error there and some on real rows, it would be about .01 less.
        """
        return self._components.mean()

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """Equal-tailed credible interval ``(low, high)``.

        If all pairs of rows left out are ordered, ``high`` is 1, as the limit of
        Clopper and Pearson is.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        Interval
        """
        low, high = super().interval(confidence_level)
        low, high = min(low, self.mean()), max(high, self.mean())
        left_out = self.leave_pair_out
        return Interval(low if left_out != 0 else 0.0, high if left_out != 1 else 1.0)

    def mean_probit(self) -> float:
        """``Φ⁻¹(mean)``, accurate even if the mean rounds to 0 or 1."""
        return self._components.mean_probit()

    def choice(self, scale: str = "auc") -> float:
        """Score by which the candidates of *one* data set should be ranked.

        It is the mean, except under :class:`skauc.AdaptivePrior`, which ranks training
        rows by the model of the data set alone, or with requested refits by one third
        of the way to the AUC of rows left out.

        Parameters
        ----------
        scale : {"auc", "probit"}, default="auc"
            ``"probit"`` returns ``Φ⁻¹`` of the score, which does not round to 0 or 1.

        Returns
        -------
        float
        """
        check_option("scale", scale, ("auc", "probit"))
        probit = self.choice_probit
        if probit is None:
            return self.mean() if scale == "auc" else self.mean_probit()
        return float(ndtr(probit)) if scale == "auc" else probit

    def probit_moments(self) -> tuple[float, float]:
        """Mean and variance of ``Z = Φ⁻¹(AUC)``."""
        return self._components.moments()

    def var(self) -> float:
        """Posterior variance of the AUC."""
        return self._components.variance()

    def cdf(self, x: ArrayLike) -> Any:
        """``P(AUC ≤ x | data)``, elementwise."""
        return _of_probits(self._components.cdf, x)

    def sf(self, x: ArrayLike) -> Any:
        """``P(AUC > x | data)``, elementwise, accurate when it is small."""
        # P(Z > z) = P(−Z < −z): the lower tail does not cancel as 1 − cdf does
        mirrored = self._components.mirrored()
        return _of_probits(lambda z: mirrored.cdf(-z), x)

    def pdf(self, x: ArrayLike) -> Any:
        """Posterior density of the AUC on (0, 1), elementwise."""
        components = self._components

        def density(z):
            if np.isinf(z):
                return 0.0
            # dz/dx = 1/φ(z); as logarithms, because either factor may overflow
            with np.errstate(over="ignore", divide="ignore"):
                log_density = np.log(components.pdf(z)) + z**2 / 2
                return np.sqrt(2 * np.pi) * np.exp(log_density)

        return _of_probits(density, x)

    def ppf(self, q: ArrayLike) -> Any:
        """Quantiles of the AUC, elementwise."""
        q = check_numbers("q", q, 0, 1)
        components = self._components
        quantiles = [components.quantile(level) for level in q.ravel()]
        return np.reshape(ndtr(quantiles), q.shape)[()]

    def _draw(self, size, rng):
        return self._components.draw(size, rng)

    @property
    def method(self) -> str:
        """``second_source``, or ``"posterior"`` where no rows were left out."""
        return self.second_source or "posterior"


def point_mass_at_half() -> AUCPosterior:
    """Posterior of a linear model that ranks nothing: AUC ½ for sure."""
    # Z = √(v/2) N rounds to 0; v = 0 would make 0/0 in the cdf
    return AUCPosterior.from_components(D=0.0, v=1e-300, q=1.0, df=1.0)


def shifted(posterior, shift) -> AUCPosterior:
    """A normal posterior with all probits shifted."""
    if shift == 0:
        return posterior
    # Z = D/√2 + …: see :meth:`AUCPosterior.normal`
    left_out = posterior.leave_pair_out
    if left_out is not None:
        left_out = float(ndtr(ndtri(left_out) + shift))
    return replace(
        posterior,
        D=posterior.D + np.sqrt(2) * shift,
        choice_probit=posterior.choice_probit + shift,
        leave_pair_out=left_out,
    )


def _of_probits(function, x):
    """``function(Φ⁻¹(x))`` elementwise; x outside of [0, 1] is at an end of it."""
    z = ndtri(np.clip(as_numbers("x", x), 0, 1))
    return np.reshape([function(at) for at in z.ravel()], z.shape)[()]


@dataclass(frozen=True, eq=False, repr=False)
class AUCPosteriors(Estimates):
    """Sequence of the posteriors of several models, whose methods return arrays.

    Attributes
    ----------
    posteriors : tuple of AUCPosterior
        One for each model, in the order of the models.

    See Also
    --------
    skauc.search_posterior : Makes it, for the candidates of a search.
    skauc.results.SearchPosterior : Holds it as ``auc``.
    skauc.results.AUCPosterior : One of its elements.

    Examples
    --------
    >>> from skauc.results import AUCPosterior, AUCPosteriors
    >>> both = AUCPosteriors(tuple(AUCPosterior.normal(m, 0.04) for m in (0.0, 1.0)))
    >>> both.mean().round(2), len(both)
    (array([0.5 , 0.84]), 2)
    """

    posteriors: tuple[AUCPosterior, ...]

    _rows_in_text = True

    def _estimates(self, confidence_level):
        rows = np.transpose([p._moments(confidence_level) for p in self.posteriors])
        return {"": range(len(self))} | dict(zip(MOMENTS, rows, strict=True))

    def __len__(self) -> int:
        return len(self.posteriors)

    def __getitem__(self, i) -> AUCPosterior:
        return self.posteriors[i]

    def __iter__(self) -> Iterator[AUCPosterior]:
        return iter(self.posteriors)

    def mean(self) -> np.ndarray:
        """Posterior means, shape (m,)."""
        return np.array([posterior.mean() for posterior in self.posteriors])

    def std(self) -> np.ndarray:
        """Posterior standard deviations, shape (m,)."""
        return np.array([posterior.std() for posterior in self.posteriors])

    def interval(self, confidence_level: float = 0.95) -> Interval:
        """Equal-tailed credible intervals.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        Interval
            Arrays ``(low, high)`` of shape (m,).
        """
        limits = [p.interval(confidence_level) for p in self.posteriors]
        return Interval(*np.array(limits).reshape(-1, 2).T)


def warnings_of(*posteriors: AUCPosterior) -> tuple:
    """The warnings of all posteriors, each sentence once."""
    return tuple(dict.fromkeys(text for p in posteriors for text in p.warnings))
