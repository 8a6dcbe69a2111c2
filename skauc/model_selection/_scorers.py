"""Scorers of the single fit of a candidate, and the splitter of their search."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn import get_config
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.metadata_routing import MetadataRequest

from ..adaptive._prior import AdaptivePrior
from ..intervals._projection import (
    Prior,
    check_covariance,
    check_prior,
    warn_undefined,
)
from ..leave_pair_out._left_out import pairs_left_out
from ..leave_pair_out._objective import STOPPED
from ..posterior._auc_posterior import NORMAL_DF, AUCPosterior
from ..statistics._checks import check_option, short
from ..statistics._types import Values
from ..statistics._warn_caller import warn_caller
from . import _doubts as doubts
from ._blocks import evaluations_of, of_two_classes
from ._evaluation import Question
from ._left_out_rows import can_stay, out_of_bag
from ._verdict import ALL_ROWS, CONTRACT, DETECTED, HELD_OUT, digest_of
from .reading._estimators import n_rows


class Scorer:
    """Scorer of fitted classifiers, for ``scoring=`` of scikit-learn's searches.

    Answers: which candidate is the best, by this measure of its quality on new rows?
    The ready-made scorers are made by functions with options:

    ==================  =======================  ==================================
    ready-made          made by                  score
    ==================  =======================  ==================================
    ``cbauc_scorer``    ``make_cbauc_scorer``    Bayesian AUC; the default choice
    ``ebauc_scorer``    ``make_ebauc_scorer``    area under the predictive ROC curve
    ``bee_scorer``      ``make_bee_scorer``      1 minus the Bayesian error rate
    ``lpo_auc_scorer``  ``make_lpo_auc_scorer``  leave-pair-out AUC
    ``cv_auc_scorer``   ``make_cv_auc_scorer``   cross-validated AUC
    ==================  =======================  ==================================

    They expect the training rows of the estimator, so pass ``cv=ResubstitutionSplit()``
    to the search. The search then costs one fit per candidate; ``cv_auc_scorer`` costs
    five more, and so does ``cbauc_scorer`` for classifiers that are neither linear nor
    forests or bagging. The call ``scorer(estimator, X, y_true, sample_weight=None)``
    returns a number; greater is better.

    See Also
    --------
    search_posterior :
        Report the AUC of the selected candidate, corrected for its selection.
    make_cbauc_scorer : Makes a scorer with options, such as ``groups``.
    ResubstitutionSplit : The splitter to use with it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skauc import ResubstitutionSplit, cbauc_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = X[:120] / X[:120].std(axis=0), y[:120]
    >>> grid = {"alpha": [1.0, 10.0, 100.0]}
    >>> search = GridSearchCV(
    ...     RidgeClassifier(), grid, scoring=cbauc_scorer, cv=ResubstitutionSplit()
    ... )
    >>> search.fit(X, y).best_params_
    {'alpha': 10.0}
    """

    # An object and not a function, because scikit-learn asks scorers whether they
    # accept sample_weight and which metadata they request.

    def __init__(
        self, factory, score, question, takes=("sample_weight", "groups"), **options
    ):
        self._factory, self._score = factory, score
        self.question, self._options = question, options
        # known but not requested: scikit-learn then raises if they are passed
        self._alias = dict.fromkeys(takes)

    def __call__(self, estimator, X, y_true=None, sample_weight=None, groups=None):
        """Score a fitted estimator on (X, y_true); greater is better.

        ``sample_weight`` counts rows; for cross-validation only ratios matter. Rows of
        one of the ``groups`` depend on each other; they replace those of the factory.
        """
        question = self.question
        if groups is not None:
            if "groups" not in self._alias:
                raise TypeError(
                    f"groups must be None for {self._factory}, which takes rows for "
                    "independent: use cbauc_scorer"
                )
            question = replace(question, groups=groups)
        data = estimator, X, y_true, sample_weight
        return self._score(*data, question, **self._options)

    def __repr__(self):
        asked, default = dict(vars(self.question)), vars(Question())
        if not self.question.adaptive:  # defaults of the covariance differ
            del default["covariance"]
        if repr(asked["prior"]) == repr(check_prior("paper")):
            asked["prior"] = "paper"
        same = {k for k in default if short(asked[k]) == short(default[k])}
        changed = {k: v for k, v in asked.items() if k not in same}
        params = (f"{k}={short(v)}" for k, v in (changed | self._options).items())
        return f"{self._factory}({', '.join(params)})"

    def __getstate__(self):
        # a worker process knows no search that began here
        return self.__dict__ | {"rows": list(ALL_ROWS)}

    def __setstate__(self, state):
        ALL_ROWS.extend(state.pop("rows"))
        self.__dict__.update(state)

    @property
    def prior(self) -> Prior | None:
        """Prior of the model of the data set; None for rows left out alone."""
        alone = self._factory in ("make_lpo_auc_scorer", "make_cv_auc_scorer")
        return None if alone else self.question.prior

    @property
    def knows_groups(self) -> bool:
        """Whether groups were given to it, or are requested under routing."""
        return self.question.groups is not None or bool(self._alias.get("groups"))

    def _accept_sample_weight(self):
        return True

    def _routing_repr(self):
        return repr(self)

    def set_score_request(self, **requests):
        """Request ``sample_weight`` or ``groups`` under metadata routing.

        Parameters
        ----------
        **requests : bool, str or None
            ``sample_weight=`` and, for scorers that know them, ``groups=``, as for
            scikit-learn's scorers.

        Returns
        -------
        Scorer
            A copy of this scorer with the requests.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "set_score_request needs metadata routing: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        if unknown := requests.keys() - self._alias.keys():
            raise TypeError(f"{self._factory} must not request {', '.join(unknown)}")
        out = Scorer(self._factory, self._score, self.question, **self._options)
        out._alias = self._alias | requests
        out.get_metadata_routing()  # checks them
        return out

    def get_metadata_routing(self):
        """Metadata that this scorer requests."""
        # made when it is asked for: imported packages may add methods to scikit-learn's
        request = MetadataRequest(owner=self)
        for name, alias in self._alias.items():
            request.score.add_request(param=name, alias=alias)
        return request


class ResubstitutionSplit:
    """Splitter with one split, in which training and test rows are all rows.

    Answers: how does ``GridSearchCV`` fit each candidate only once, on all rows? Use it
    with scorers that evaluate a model on its training rows, such as
    :data:`skauc.cbauc_scorer`. **Not** for ordinary scorers such as ``"roc_auc"``,
    which would return the optimistic resubstitution score.

    A successive halving search needs an integer ``random_state``; without it the search
    scores different rows from those that it fits.

    See Also
    --------
    cbauc_scorer : The scorer to use with it.
    search_posterior : Chooses among its candidates, also the simplest good one.

    Examples
    --------
    >>> import numpy as np
    >>> from skauc import ResubstitutionSplit
    >>> [(train, test)] = ResubstitutionSplit().split(np.zeros((3, 2)))
    >>> train.tolist(), test.tolist()
    ([0, 1, 2], [0, 1, 2])
    """

    def split(
        self, X: Any, y: object = None, groups: Values = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield a single pair ``(train, test)``: the numbers of all rows, twice.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
        y : array-like of shape (n,), default=None
            Labels, by which scorers know the rows of this search again.
        groups : array-like of shape (n,), default=None
            Taken under metadata routing, for scorers that request them.

        Yields
        ------
        train, test : ndarray of shape (n,)

        Raises
        ------
        ValueError
            If groups are given without metadata routing, under which the scorer would
            not get them.
        """
        if groups is not None and not get_config()["enable_metadata_routing"]:
            raise ValueError(
                "groups must be None without metadata routing, because the scorer does "
                "not get them: use scoring=make_cbauc_scorer(groups=groups)"
            )
        doubts.begin_search()
        if y is not None:
            ALL_ROWS.append(digest_of(X, y))
        rows = np.arange(n_rows(X))
        yield rows, rows.copy()

    def get_n_splits(
        self, X: object = None, y: object = None, groups: object = None
    ) -> int:
        """Return 1."""
        return 1

    def get_metadata_routing(self) -> Any:
        """Request the groups, which the scorer must request, too."""
        request = MetadataRequest(owner=self)
        if get_config()["enable_metadata_routing"]:
            request.split.add_request(param="groups", alias=True)
        return request

    def __repr__(self):
        return "ResubstitutionSplit()"


def make_cbauc_scorer(
    *,
    prior: Prior = "adaptive",
    covariance: str = "common",
    rows: str = "auto",
    scale: str = "auc",
    pos_label: object = None,
    groups: Values = None,
) -> Scorer:
    """Scorer that ranks fitted classifiers by their Bayesian AUC.

    Answers: which candidate has the largest AUC [1]_ on new rows?
    ``GridSearchCV(pipe, grid, scoring=make_cbauc_scorer(), cv=ResubstitutionSplit())``
    fits every candidate once: linear models are scored by the model of the data set,
    forests and bagging by pairs of rows out of bag. All other classifiers are fitted
    five times more, on folds. The score ranks candidates of one data set;
    :func:`skauc.auc_posterior` or :func:`skauc.search_posterior` report the AUC of the
    selected one.

    Parameters
    ----------
    prior : "adaptive", "paper", AdaptivePrior or NormalInverseWishart
        As for :func:`skauc.auc_posterior`. ``"paper"`` reports 1.00 on pure noise with
        more features than rows, so it must not choose models from such data.
    covariance : {"common", "separate"}, default="common"
        Covariance of a NormalInverseWishart.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the scored rows trained the estimator. They did with
        ``ResubstitutionSplit``, whose rows ``"auto"`` knows. They did not in
        ``cross_val_score``: pass ``"held-out"``. A scorer fits nothing, so that
        ``"auto"`` recognises other rows only by what the fit shows: the means of a
        scaler, the gradient of a loss, support vectors, the number of rows of a
        neighbours model. It warns of rows that it takes for held-out rows, and of those
        that nothing shows to be either, which it takes for training rows. The score of
        n held-out rows is ``(A n + ½)/(n + 1)``, where A is their empirical AUC.
    scale : {"auc", "probit"}, default="auc"
        ``"probit"`` returns ``Φ⁻¹(AUC)``, which keeps its order where AUCs round to 1.
    pos_label : label, default=None
        The positive class of two; None takes ``classes_[1]``. The score of more classes
        is the mean over all pairs of them, each on its own rows.
    groups : array-like of shape (n,), default=None
        Group of each row of the search: rows of one group are left out together, at no
        fit in closed form and by five fits for all other models. Under metadata routing
        request them instead: ``cbauc_scorer.set_score_request(groups=True)``.

    Returns
    -------
    Scorer
        ``scorer(estimator, X, y_true, sample_weight=None)``.

    Raises
    ------
    ValueError
        If an option is not known.

    Warns
    -----
    UndefinedMetricWarning
        When called: if the AUC rounds to 1, so that candidates tie.
    UntrustedAUCWarning
        When called: as :func:`skauc.auc_posterior`, once for each search of all rows.

    See Also
    --------
    ResubstitutionSplit : The splitter to use with it.
    search_posterior :
        Report after the search: choose with this scorer, report with that.
    make_lpo_auc_scorer : Rank by rows left out alone, without refits.
    make_cv_auc_scorer : Rank by cross-validation.

    Notes
    -----
    The score is the AUC by the model of the data set. In 640 runs its choices lost no
    more AUC than those of scores that also leave rows out. It ranks candidates, and may
    be far too high where features outnumber rows; ``best_score_`` is not a report. With
    groups the score is the AUC of rows left out alone. In simulations the model of the
    data set chose as well or better. On recordings of 16 speakers, however, its choices
    lost .097 of the AUC (standard error .018); those of rows left out lost .004 (.002),
    as much as those of cross-validation by groups.

    ``AdaptivePrior(refits=K)`` refits every candidate K times, and the score moves one
    third of the way, in probits, to the AUC of the rows left out.

    For classifiers that are not linear the score is the AUC of rows left out.
    Cross-validation ranks them equally well. A search over forests takes a fifth of the
    time of cross-validation, a search over other such classifiers as long. One warning
    for each search says that fits were made.

    With more features than rows and 150 rows or more it ranks worse: its choices among
    L2 penalties lose .010 of the AUC, those of :func:`make_lpo_auc_scorer` and of
    cross-validation .003. For L1 penalties cross-validation is better there.

    References
    ----------
    .. [1] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771

    Examples
    --------
    >>> from skauc import make_cbauc_scorer
    >>> make_cbauc_scorer(scale="probit")
    make_cbauc_scorer(scale='probit')
    """
    check_option("scale", scale, ("auc", "probit"))
    question = Question(prior, covariance, rows, pos_label, groups)
    return Scorer("make_cbauc_scorer", _cbauc, question, scale=scale)


def make_ebauc_scorer(
    *,
    prior: Prior = "adaptive",
    covariance: str = "separate",
    rows: str = "auto",
    thresholds: str = "scores",
    pos_label: object = None,
) -> Scorer:
    """Scorer that returns EBAUC, the area under the predictive ROC curve.

    Answers the question of :func:`make_cbauc_scorer` by the posterior predictive
    distributions [2]_ of the scores under the model of the data set, as in [1]_. Costs
    no fit. It does not use the AUC of rows left out; prefer :func:`make_cbauc_scorer`
    for choosing a model.

    Parameters
    ----------
    prior, pos_label
        As for :func:`make_cbauc_scorer`.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the scored rows trained the estimator. For held-out rows the scores are
        treated as a single feature, as in :func:`skauc.ebauc_score`.
    covariance : {"separate", "common"}, default="separate"
        Covariance of a NormalInverseWishart; the authors' code uses separate
        covariances. The adaptive prior always uses one covariance for both classes.
    thresholds : {"scores", "all"}, default="scores"
        Thresholds of the ROC curve: the training scores and the end points, or the
        limit of infinitely many thresholds.

    Returns
    -------
    Scorer

    Raises
    ------
    ValueError
        If an option is not known.

    See Also
    --------
    make_cbauc_scorer : The default choice.
    ebauc_score : The same for scores of held-out rows.

    References
    ----------
    .. [1] Hassan et al. (2019), "Bayesian receiver operating characteristic metric for
       linear classifiers", https://arxiv.org/abs/1908.08771
    .. [2] Dalton & Dougherty (2011), "Bayesian minimum mean-square error estimation for
       classification error — part II", https://doi.org/10.1109/TSP.2010.2084573

    Examples
    --------
    >>> from skauc import make_ebauc_scorer
    >>> make_ebauc_scorer(thresholds="all")
    make_ebauc_scorer(thresholds='all')
    """
    prior = check_prior(prior)
    check_covariance(prior, covariance, default="separate")
    check_option("thresholds", thresholds, ("scores", "all"))
    # the default is that of a conjugate prior
    covariance = "common" if isinstance(prior, AdaptivePrior) else covariance
    question = Question(prior, covariance, rows, pos_label)
    return Scorer(
        "make_ebauc_scorer", _ebauc, question, ["sample_weight"], thresholds=thresholds
    )


def make_bee_scorer(
    *,
    prior: Prior = "adaptive",
    covariance: str = "common",
    rows: str = "auto",
    pos_label: object = None,
) -> Scorer:
    """Scorer that returns 1 minus the Bayesian error estimate (BEE).

    Answers: which candidate makes the fewest errors at its own threshold? The class
    probabilities are the (weighted) shares of the classes among the rows. Costs no fit.

    Parameters
    ----------
    prior, covariance, pos_label
        As for :func:`make_cbauc_scorer`.
    rows : {"auto", "training", "held-out"}, default="auto"
        Whether the scored rows trained the estimator. For held-out rows the scores are
        treated as a single feature.

    Returns
    -------
    Scorer
        Greater is better.

    Raises
    ------
    ValueError
        If an option is not known.

    See Also
    --------
    make_cbauc_scorer : Ranks by the AUC, which does not depend on a threshold.
    operating_points : Error rates at a threshold, on held-out rows.

    Notes
    -----
    ``BEE = π₀ FPR(t) + π₁ (1 − TPR(t))`` [1]_ with the rates of the predictive Student
    distributions at the threshold t of ``predict``; π₀ and π₁ are the class
    probabilities.

    References
    ----------
    .. [1] Dalton & Dougherty (2011), "Bayesian minimum mean-square error estimation for
       classification error — part II", https://doi.org/10.1109/TSP.2010.2084573

    Examples
    --------
    >>> from skauc import make_bee_scorer
    >>> make_bee_scorer(rows="held-out")
    make_bee_scorer(rows='held-out')
    """
    question = Question(prior, covariance, rows, pos_label)
    return Scorer("make_bee_scorer", _accuracy, question, ["sample_weight"])


def make_lpo_auc_scorer(*, pos_label: object = None, groups: Values = None) -> Scorer:
    """Scorer that returns the leave-pair-out AUC of a fitted model, without refits.

    Answers: how often would a positive row outrank a negative row, if the model had
    been trained without both [1]_? The score is a nearly unbiased estimate of the AUC
    of the trained model, with a larger variance than the Bayesian AUC.

    Parameters
    ----------
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.
    groups : array-like of shape (n,), default=None
        Group of each row: the groups of both rows of a pair are left out.

    Returns
    -------
    Scorer
        Call it with the training rows of the model and the sample weights of its fit.

    Raises
    ------
    TypeError
        When called: if the training objective of the model is not supported. Supported
        are ``LogisticRegression`` (L2), ``RidgeClassifier``, ``LinearSVC`` (squared
        hinge), ``LinearDiscriminantAnalysis`` (no or fixed shrinkage), their ``…CV``
        forms and skauc's own estimators, and forests and bagging with bootstrap samples
        of enough members (about 75), of which it is the AUC of pairs out of bag.
    ValueError
        When called: if the rows are not the ones that trained the model.

    Warns
    -----
    UntrustedAUCWarning
        When called: if the solver stopped at another model than the optimum of its
        objective (scores that correlate by less than .99); the AUC is that of the
        optimum. If many rows are copies of others. If a step in front used y or fits
        the rows closely, since it is not fitted again without the pair.
    UndefinedMetricWarning
        When called: if a class has one row (nan), or all coefficients are 0 (½).

    See Also
    --------
    make_cbauc_scorer :
        The default choice; ranks worse only if features outnumber 150 rows or more.
    make_cv_auc_scorer : Rows left out by folds, for any classifier.
    auc_posterior : Report the AUC of the chosen model.

    Notes
    -----
    The AUC is exact for squared losses. For other losses Newton steps are repeated
    until they settle if n min(n, P) ≤ 10 000: the error is below .005 in the mean and
    .03 at most, with 30 rows or more and C from 1e-4 to 1e4. Beyond, a pair is left out
    by one step, with an error below .01, and up to .04 for a squared hinge with P near
    n. The score takes a few milliseconds in general, .1 to .3 s near n min(n, P) =
    10 000, and .4 and 2 s for 1000 and 2000 rows of more features. If a class has more
    than 250 rows, an evenly spaced sample of its rows forms the pairs. Behind steps,
    whose means saw all rows, pairs are left out of the model with a free intercept.

    References
    ----------
    .. [1] Airola et al. (2011), "An experimental comparison of cross-validation
       techniques for estimating the area under the ROC curve",
       https://doi.org/10.1016/j.csda.2010.11.018

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from skauc import lpo_auc_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> round(lpo_auc_scorer(RidgeClassifier().fit(X, y), X, y), 2)
    0.99
    """
    question = Question(pos_label=pos_label, groups=groups)
    return Scorer("make_lpo_auc_scorer", _leave_pair_out, question)


def _cbauc(estimator, X, y, sample_weight, question, scale):
    found = evaluations_of(estimator, X, y, sample_weight, question)
    probit = [one.choice for one in found]
    for one in found:
        one.warn(once=one.verdict in (CONTRACT, DETECTED))
    if scale == "probit":
        # a mixture of points, whose mean does not round to 1
        points = np.sqrt(2) * np.array(probit), 0.0, NORMAL_DF, NORMAL_DF
        return AUCPosterior.from_components(*points, 1 / len(probit)).mean_probit()
    value = float(ndtr(probit).mean())
    # within 2 eps of 1 the order of candidates is lost
    if 1 - value < 2 * np.finfo(float).eps:
        warn_caller(
            "The Bayesian AUC rounds to 1.0, so that candidates tie; "
            'make_cbauc_scorer(scale="probit") still ranks them',
            UndefinedMetricWarning,
        )
    return value


def _ebauc(estimator, X, y, sample_weight, question, thresholds):
    found = evaluations_of(estimator, X, y, sample_weight, question)
    return float(np.mean([one.ebauc(thresholds) for one in found]))


def _accuracy(estimator, X, y, sample_weight, question):
    found = evaluations_of(estimator, X, y, sample_weight, question)
    return 1 - of_two_classes(found, "y_true").error()


def _leave_pair_out(estimator, X, y, sample_weight, question):
    found = evaluations_of(estimator, X, y, sample_weight, question, gather=True)
    evaluation = of_two_classes(found, "y_true")
    model = evaluation.model
    if evaluation.reason_unranked is not None:
        warn_undefined(evaluation.reason_unranked)
        return 0.5
    if min(model.front.n_neg, model.front.n_pos) < 2:
        warn_caller(
            "The leave-pair-out AUC is undefined and set to nan because a class has "
            "one row, and no row of it remains when a pair is left out",
            UndefinedMetricWarning,
        )
        return np.nan
    source, reasons = out_of_bag(model)
    if source is not None:
        doubts.warn(reasons + doubts.copies_of(model))
        return source.auc
    if model.fit_reason:
        raise TypeError(
            f"{model.name} has no leave-pair-out AUC in closed form "
            f"({model.fit_reason}); use skauc.cv_auc_scorer"
        )
    trained = evaluation.verdict is not HELD_OUT
    moved = model.scored.moved
    source = pairs_left_out(model.fit, model.front, moved=moved) if trained else None
    if source is None:
        raise ValueError(
            "X must be the rows (and sample_weight the weights) that trained the "
            f"{model.name}, got rows on which its gradient is not 0, a singular fit, "
            "groups without a closed form (a squared hinge, or more than 10 000 pairs "
            "of groups or 2000 rows), or too weak a penalty for features of such "
            "different units; scale the features, or use skauc.make_cv_auc_scorer"
        )
    doubts.warn(doubts.copies_of(model), model.front, model.score)
    if not can_stay(model):
        doubts.warn([doubts.STEP_STAYS.format(name=model.name)])
    if source.departure > STOPPED:
        way = "rows left out of the optimum"
        doubts.warn([doubts.STOPPED_EARLY.format(name=model.name, source=way)])
    return source.auc


cbauc_scorer = make_cbauc_scorer()
ebauc_scorer = make_ebauc_scorer()
bee_scorer = make_bee_scorer()
lpo_auc_scorer = make_lpo_auc_scorer()
