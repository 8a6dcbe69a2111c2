"""Functions and scorers that take ``(estimator, X, y)``.

A score is computed in these steps: ``_scorers`` or ``_auc_posterior`` take the call;
``reading`` opens the estimator, scores the rows once and maps the direction back
to the features that entered; ``_verdict`` decides whether these rows trained the
model; :mod:`skauc.adaptive` is the model of the data set; :mod:`skauc.leave_pair_out`
or ``_left_out_rows`` leave rows out; ``_posterior`` joins them into one posterior with
its doubts. ``_candidates``, ``_search`` and ``_diagnose`` start from the evaluations of
``_posterior``.

This folder may import all others except ``displays`` and ``distributed``.
"""
