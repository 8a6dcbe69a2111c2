"""The adaptive prior: its parameters."""

from dataclasses import dataclass, field
from numbers import Integral

from ..statistics._checks import as_verbosity, check_flag, check_interval


@dataclass(frozen=True)
class AdaptivePrior:
    """Prior with shrinkage chosen by the data, the default ``prior`` of all functions.

    Answers: how large is the true AUC of a linear model, if nothing is known about the
    covariance and the mean difference of the classes? The prior states one belief only:
    how large the attainable AUC may be, that of the best possible linear model. The
    data choose how strongly the covariance and the mean difference are shrunk. One
    decomposition of the data set serves all candidates of a search; each further
    candidate takes about a millisecond. Create an AdaptivePrior only to change an
    option; otherwise use ``prior="adaptive"``.

    Parameters
    ----------
    attainable_power : float, default=1.0
        The power c of the prior ``P(Φ⁻¹(u) ≤ z) = (1 − e^{−z/2})^c`` of the attainable
        AUC u. Larger values expect better features.
    leave_pair_out : bool, default=True
        Combine the AUC by the model of the data set with the AUC of rows left out of
        the fit [1]_ [2]_. False uses the model of the data set alone.
    refits : int or None, default=None
        Number of refits for the AUC of rows left out. None: a report uses a closed form
        if there is one, and otherwise refits the model to 20 bootstrap samples (10 from
        200 rows on, 5 from 500 rows on); a scorer leaves no rows out. 0 never refits.
        An integer K >= 2 refits the whole estimator K times, in scorers too;
        classifiers that are not linear need it.
    verbose : int, default=0
        Verbosity of joblib during refits; 0 is silent.

    Raises
    ------
    ValueError
        If ``attainable_power`` is not positive and finite, a flag is not True or False,
        ``refits`` is 1, negative or not an integer, or ``verbose`` is negative.

    See Also
    --------
    auc_posterior : Takes it as ``prior=``.
    make_cbauc_scorer : Takes it for the candidates of a search.
    NormalInverseWishart : The published prior, for few features and many rows.

    Notes
    -----
    The result does not depend on shifts and units of the features, on the order of rows
    and columns or on the norm of the coefficients. Both classes have the same
    eigenvectors of their covariance, but each class may have its own variance along
    every eigenvector. One third of the prior expects no signal, one third many weak
    signals, and one third few strong ones, which are sought after decorrelation [3]_.
    The mathematics is in the docstring of ``skauc/adaptive/__init__.py``.

    With more features than rows and more than 600 rows, the model of the data set is
    fitted to at most 300 rows of each class, evenly spaced in the order of the sums of
    their standardised features.

    References
    ----------
    .. [1] Efron & Tibshirani (1997), "Improvements on cross-validation: the .632+
       bootstrap method", https://doi.org/10.1080/01621459.1997.10474007
    .. [2] Airola et al. (2011), "An experimental comparison of cross-validation
       techniques for estimating the area under the ROC curve",
       https://doi.org/10.1016/j.csda.2010.11.018
    .. [3] Zuber & Strimmer (2009), "Gene ranking and biomarker discovery under
       correlation", https://doi.org/10.1093/bioinformatics/btp460

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skauc import AdaptivePrior, bayesian_val_score
    >>> X, y = np.random.default_rng(0).standard_normal((40, 200)), np.arange(40) % 2
    >>> noise = bayesian_val_score(LogisticRegression(), X, y, prior=AdaptivePrior())
    >>> 0.4 < noise.mean() < 0.6  # the published prior reports 1.00 here
    True
    """

    attainable_power: float = 1.0
    leave_pair_out: bool = True
    refits: int | None = None
    verbose: int = field(default=0, kw_only=True)

    def __post_init__(self):
        check_interval("attainable_power", self.attainable_power, 0, closed="neither")
        check_flag("leave_pair_out", self.leave_pair_out)
        as_verbosity(self.verbose)
        refits = self.refits
        whole = isinstance(refits, Integral) and not isinstance(refits, bool)
        if refits is not None and not (whole and (refits == 0 or refits >= 2)):
            raise ValueError(
                f"refits must be None, 0 or an integer >= 2, got {refits!r}"
            )
