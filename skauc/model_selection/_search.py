"""The joint posterior of the candidates of a search, and of the selected one.

:mod:`._candidates` has the mathematics of the joint posterior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..intervals._projection import check_prior
from ..posterior._auc_posterior import AUCPosterior, AUCPosteriors, warnings_of
from ..posterior._joint import AUCDifferencePosterior, JointAUCs, maximum_bias
from ..statistics._checks import as_numbers, check_integer, check_interval, generator
from ..statistics._result import Value, data_frame, picture
from ._candidates import alike, candidates_of, joint_aucs, luck
from ._scorers import Scorer


@dataclass(frozen=True, eq=False, repr=False)
class SearchPosterior(Value):
    """Joint posterior of the AUCs of all candidates of a search.

    Made by :func:`search_posterior`.

    Parameters
    ----------
    p_best : ndarray of shape (m,)
        Probability of each candidate of being the best of all; adds up to 1.
        Candidates within 1e-4 of the best AUC share it.
    expected_loss : ndarray of shape (m,)
        AUC lost on average by taking that candidate instead of the best.
    auc : AUCPosteriors
        Posterior of each candidate as if it had been the only one: a sequence of
        :class:`AUCPosterior` with ``mean()``, ``std()`` and ``interval()`` in arrays.
    selected : AUCPosterior
        Of the selected candidate, less what it owes to having been selected.
    selected_index : int
        Which candidate that is.
    bias_of_best_score : float
        What was taken off: how much the AUC of the winner is on average too high
        because it won.
    params : tuple of dict
        Parameters of each candidate; empty ones for a list of models.
    row : ndarray of int of shape (m,)
        Row of each candidate in ``cv_results_``, or its place in the list.
    score : ndarray of shape (m,) or None
        ``mean_test_score`` of the search.
    joint : JointAUCs
        Means and covariance of ``Φ⁻¹(AUC)``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:80, :4] / X[:80, :4].std(axis=0), y[:80]
    >>> models = [LogisticRegression(C=C).fit(X, y) for C in (1e-3, 1.0)]
    >>> type(search_posterior(models, X, y, random_state=0)).__name__
    'SearchPosterior'
    """

    p_best: np.ndarray
    expected_loss: np.ndarray
    auc: AUCPosteriors
    selected: AUCPosterior
    selected_index: int
    bias_of_best_score: float
    params: tuple[dict, ...]
    row: np.ndarray
    score: np.ndarray | None
    joint: JointAUCs

    def __hash__(self):  # parameters may be estimators
        return hash((SearchPosterior, self.p_best.tobytes()))

    def __repr__(self):
        low, high = self.selected.interval(0.95)
        k = self.selected_index
        name = f"{self.params[k]!r}" if self.params[k] else f"{k}"
        return (
            f"SearchPosterior({len(self.p_best)} candidates, selected={name}, "
            f"p_best={self.p_best[k]:.2g}, expected_loss={self.expected_loss[k]:.2g}, "
            f"auc={self.selected.mean():.4g}, interval95=({low:.4g}, {high:.4g}))"
        )

    def difference(self, i, j) -> AUCDifferencePosterior:
        """Posterior of ``AUC_i − AUC_j``: mean, std, interval, probability.

        Parameters
        ----------
        i, j : int
            Places among the candidates.

        Returns
        -------
        AUCDifferencePosterior

        Raises
        ------
        ValueError
            If there is no such candidate.
        """
        difference = self.joint.difference(i, j)
        return replace(difference, warnings=warnings_of(self.auc[i], self.auc[j]))

    def simplest(self, order, within=1.0) -> int:
        """Simplest candidate within some standard deviations of the best.

        Parameters
        ----------
        order : str or array-like of shape (m,)
            How complex each candidate is, the smallest being the simplest; a string
            names the parameter whose value it is, ``"-C"`` its negative.
        within : float, default=1.0
            Standard deviations *of the difference* to the best that are hardly worse,
            on the probit scale of the AUC.

        Returns
        -------
        int
            Its place among the candidates; of equally simple ones the better.

        Raises
        ------
        ValueError
            If the order or ``within`` is not understood.
        """
        within = check_interval("within", within, 0)
        order = self._complexity(order)
        near = np.flatnonzero(self.joint.within(within))
        return int(near[np.lexsort((-self.joint.mean[near], order[near]))[0]])

    def _complexity(self, order):
        if isinstance(order, str):
            name, sign = order.removeprefix("-"), -1.0 if order[:1] == "-" else 1.0
            missing = [p for p in self.params if name not in p]
            if missing:
                raise ValueError(
                    f"order must name a parameter of all candidates, got {order!r}"
                )
            order = sign * as_numbers("order", [p[name] for p in self.params])
        order = as_numbers("order", order)
        if order.shape != self.p_best.shape or np.isnan(order).any():
            raise ValueError(
                f"order must hold a number for each of {len(self.p_best)} candidates, "
                f"got shape {order.shape}"
            )
        return order

    def to_frame(self, confidence_level=0.95):
        """Numbers of each candidate, in addition to ``cv_results_``.

        Parameters
        ----------
        confidence_level : float in (0, 1), default=0.95

        Returns
        -------
        pandas.DataFrame
            Its index are the rows of ``cv_results_``; columns the parameters, the
            search's score, ``auc, std, low, high, p_best, expected_loss, selected``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        low, high = self.auc.interval(confidence_level)
        names = dict.fromkeys(name for p in self.params for name in p)
        columns = {f"param_{k}": [p.get(k) for p in self.params] for k in names}
        if self.score is not None:
            columns["mean_test_score"] = self.score
        columns |= {"auc": self.auc.mean(), "std": self.auc.std()}
        columns |= {"low": low, "high": high, "p_best": self.p_best}
        columns |= {"expected_loss": self.expected_loss}
        columns["selected"] = np.arange(len(self.p_best)) == self.selected_index
        return data_frame(columns, index=self.row)

    def plot(self, ax=None, **options):
        """Draw the candidates against what they differ in.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        **options
            For :meth:`skauc.SearchDisplay.plot`.

        Returns
        -------
        SearchDisplay
        """
        return picture(self, ax, **options)


def search_posterior(
    search,
    X,
    y,
    *,
    prior=None,
    n_jobs=None,
    random_state=None,
    n_draws=4000,
    fit_params=None,
) -> SearchPosterior:
    """Joint posterior of the AUCs of all candidates of a search.

    Answers: how sure is the choice, what may it cost, and what is the AUC of the
    selected candidate now that it was selected? All candidates share one model of the
    data set, so that common errors cancel in their differences. Costs one fit per
    candidate, and refits of three.

    Parameters
    ----------
    search : fitted search, or list of fitted models
        ``GridSearchCV``, ``RandomizedSearchCV``, ``HalvingGridSearchCV``, … with any
        ``cv`` and scoring, over linear models of two classes. Candidates are refitted
        to all rows, since searches keep no models. Candidates without a score are left
        out, and those of earlier iterations of a halving search. Fitted models are
        taken as they are.
    X : array-like or sparse matrix of shape (n, n_features)
        The rows of the search.
    y : array-like of shape (n,)
    prior : "adaptive", "paper", AdaptivePrior, NormalInverseWishart or None
        As for :func:`skauc.auc_posterior`; None takes that of the search's scorer.
    n_jobs : int, default=None
        Number of processes that fit candidates.
    random_state : int, Generator, RandomState or None, default=None
        Of the draws behind ``p_best`` and ``expected_loss``.
    n_draws : int, default=4000
        Number of draws; a probability is good to ``0.5/√n_draws``.
    fit_params : dict, default=None
        What ``search.fit`` was given in addition to X and y, for example
        ``{"sample_weight": w}``; weights are counts of the rows.

    Returns
    -------
    SearchPosterior

    Raises
    ------
    TypeError
        If it is no search, or a model is not linear.
    ValueError
        If the input is invalid, there are more than two classes, or no candidate is
        left.
    sklearn.exceptions.NotFittedError
        If the search or a model is not fitted.

    Warns
    -----
    UntrustedAUCWarning
        As :func:`skauc.auc_posterior`, once for each data set; for a list, if the rows
        trained some of the models and not others.

    Notes
    -----
    In probits ``Z = Φ⁻¹(AUC) ~ N(m, V)``: m lies half way between the model of the data
    set and the ranking scores, at the level of the posteriors; the covariance is in
    :mod:`skauc.model_selection._candidates`. ``p_best`` and ``expected_loss`` are means
    over draws and may prefer another candidate than the search did.

    The posteriors of the selected candidate and of the next two are those that
    :func:`skauc.auc_posterior` reports, with refits where it refits; the others are
    those of a scorer. The selected one is lowered by what it owes to its selection: an
    error e of the AUC of rows left out enters a ranking score with the weight w_c = ⅓,
    of which the share w_c remains, so that with normal e of standard deviation
    ``w_c² s_b`` the bias is ``E e_k``, ``k = argmax(score + e)``. A search that ranks
    by another score is corrected as if it ranked by ours. :func:`skauc.best_score_bias`
    corrects the ``best_score_`` of a search over folds.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 10, for biases
    by simulation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skauc import ResubstitutionSplit, cbauc_scorer, search_posterior
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:80, :4] / X[:80, :4].std(axis=0), y[:80]
    >>> search = GridSearchCV(
    ...     LogisticRegression(), {"C": [1e-3, 1.0]}, scoring=cbauc_scorer,
    ...     cv=ResubstitutionSplit(),
    ... ).fit(X, y)
    >>> posterior = search_posterior(search, X, y, random_state=0)
    >>> float(posterior.p_best.sum().round(6)), posterior.simplest("C") in (0, 1)
    (1.0, True)
    """
    prior = _prior_of_scorer(search) if prior is None else prior
    prior, n_draws = check_prior(prior), check_integer("n_draws", n_draws, 1)
    rng = generator(random_state)
    searched = candidates_of(search, X, y, prior, n_jobs, fit_params)
    rho = alike(searched.candidates)
    joint = joint_aucs(searched.candidates, rho)
    p_best, loss = joint.best(n_draws, rng)
    choice = np.array([c.choice for c in searched.candidates])
    # in a list of models nothing was selected: take the best choice
    k = int(np.argmax(choice)) if searched.selected is None else searched.selected
    noise = luck(searched.candidates, rho)
    # without rows left out the selected score has no error that selection favours
    bias = maximum_bias(choice, noise, n_draws, rng) if noise[k, k] else 0.0
    own = searched.candidates[k].posterior
    selected = _lowered(own, bias)
    return SearchPosterior(
        p_best=p_best,
        expected_loss=loss,
        auc=AUCPosteriors(tuple(c.posterior for c in searched.candidates)),
        selected=selected,
        selected_index=k,
        bias_of_best_score=own.mean() - selected.mean(),
        params=searched.params,
        row=searched.row,
        score=searched.score,
        joint=joint,
    )


def _prior_of_scorer(search):
    """The prior of the scorer of a search; "adaptive" where it has none."""
    scorers = getattr(search, "scorer_", None)
    scorers = scorers.values() if isinstance(scorers, dict) else [scorers]
    for scorer in scorers:
        if isinstance(scorer, Scorer) and "prior" in scorer._params:
            return scorer._params["prior"]
    return "adaptive"


def _lowered(posterior, bias):
    """The posterior with the mean of Z lowered by the bias, and Var Z + bias²."""
    if bias == 0:
        return posterior
    mean, variance = posterior.probit_moments()
    # Z − bias, its variance + bias²; Φ⁻¹ E Φ(Z) = mean/√(1 + variance)
    variance += bias**2
    mean_probit = (mean - bias) / np.sqrt(1 + variance)
    lowered = AUCPosterior.normal(mean_probit, variance)
    kept = ("leave_pair_out", "second_source", "rows", "warnings")
    return replace(lowered, **{name: getattr(posterior, name) for name in kept})
