"""Functions and scorers that take ``(estimator, X, y)``.

The way of one score: ``_scorers`` or ``_auc_posterior`` → ``_fitted_model`` (opens the
estimator, scores the rows once, takes the direction back to the features that entered)
→ ``_training_rows`` (did these rows train the model?) → :mod:`skauc.adaptive` (the
model of the data set) → :mod:`skauc.leave_pair_out` or ``_refits`` (rows left out) →
``_posterior`` (one posterior with its doubts). ``_candidates``, ``_search`` and
``_diagnose`` start from the evaluations of ``_posterior``.

This folder may import all others but ``displays`` and ``distributed``.
"""
