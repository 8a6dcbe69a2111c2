"""Displays of ROC curves, calibration, net benefit, posteriors and searches.

They have the interface of scikit-learn's displays: ``from_estimator``,
``from_predictions``, ``from_cv_results``, ``plot(ax=None, …)``, and the artists in
attributes with a trailing underscore; what one line of matplotlib does with these (a
style, spines, a line at chance) has no option here. ``_style`` draws a curve, a band,
intervals and the legend for all of them, and tables of estimates as forest plots. Each
display registers itself with ``statistics._result.picture`` for the values that it
draws, so that ``estimate.plot()`` and ``posterior.plot()`` reach their display although
lower folders do not import this one. matplotlib is imported only when something is
drawn.
"""
