"""Pictures: a ROC curve, analytic beside empirical, and posteriors of the AUC.

They follow scikit-learn's displays: ``from_estimator``, ``from_predictions``,
``from_cv_results``, ``plot(ax=None, *, name=None, …)``, and the artists in attributes
with a trailing underscore. ``_roc`` and ``_auc_posterior`` hold one display each,
``_style`` what they share, ``_binormal_band`` and ``_roc_folds`` what ``_roc`` draws.
Each registers itself with ``statistics._result.picture`` for the values that it draws:
that is how ``estimate.plot()`` and ``posterior.plot()`` find their display without an
import against the table of folders. matplotlib is imported when something is drawn, not
before.
"""
