"""Pictures: ROC curves, posteriors of the AUC, and the candidates of a search.

They follow scikit-learn's displays: ``from_estimator``, ``from_predictions``,
``from_cv_results``, ``plot(ax=None, *, name=None, …)``, and the artists in attributes
with a trailing underscore. ``_style`` draws a curve, a band and the chance level for
all of them. Each display registers itself with ``statistics._result.picture`` for the
values that it draws: that is how ``estimate.plot()`` and ``posterior.plot()`` reach
their display without an import against the table of folders. matplotlib is imported
when something is drawn.
"""
