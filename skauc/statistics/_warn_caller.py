"""Warnings that name the line of the user's call."""

import functools
import inspect
import warnings

# a cached property is called by functools
_INSIDE = __file__.rsplit("statistics", 1)[0], functools.__file__


class UntrustedAUCWarning(UserWarning):
    """Warning that a computed AUC should not be trusted as it is.

    The text names the reason, its size if it is known, and a remedy. The most frequent
    ones, by words of the text:

    *copies of others*
        Rows occur twice, exactly or nearly. A row that is left out is then still among
        the training rows, under the number of its copy, and the AUC is too high. Rows
        of one subject: pass ``groups=``. Oversampled rows: fit each distinct row once,
        with ``class_weight="balanced"``. Duplicates by accident: drop them.
    *used y*
        A step in front of the model saw the labels. ``AdaptivePrior(refits=5)`` or
        :func:`skauc.bootstrap_auc` refits the step, too. If the step is not part of the
        Pipeline, put it there.
    *would differ from this one*
        These rows seem not to have trained the model. Pass ``rows=`` and the
        ``sample_weight`` of the fit.
    *not at its optimum*
        The solver stopped too early. Scale the features, or raise ``max_iter``.
    *resampled the rows*
        A step of the Pipeline makes copies of rows. Use ``class_weight="balanced"``
        instead of it, or ``AdaptivePrior(refits=5)``.
    *only from fits*
        No closed form exists for this model, such as gradient boosting; the AUC comes
        from refits. The AUC is as good as that of cross-validation, and there is
        nothing to do.
    *by the model … by rows left out*
        The two sources disagree by more than chance. :func:`skauc.diagnose` shows both.
    *depend on each other*
        The search split the rows by groups or in time, and the report takes them for
        independent. Pass ``groups=``.
    *has only … rows*
        The AUC is uncertain. Print its interval, not only its mean.

    Parameters
    ----------
    message : str
        The reason, its size if it is known, and a remedy.

    See Also
    --------
    skauc.diagnose : Table of the estimates and doubts about one model.
    skauc.auc_posterior : ``posterior.warnings`` holds the texts of its doubts.
    skauc.bootstrap_auc : Refits the whole estimator, for steps that used y.

    Examples
    --------
    >>> import warnings
    >>> from skauc import UntrustedAUCWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", UntrustedAUCWarning)  # stop instead
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package.

    Python shows a warning once for each text and line. In a search all candidates are
    scored from one line of scikit-learn, so that each sentence is shown once.

    Parameters
    ----------
    message : str
        The same text for every candidate of a search.
    category : type
        Class of the warning.
    """
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_back and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
