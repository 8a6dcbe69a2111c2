"""Functions and scorers that take ``(estimator, X, y)``.

A score is computed in these steps: ``_scorers`` or ``_auc_posterior`` take the call;
``_blocks`` makes an evaluation of rows in memory or in blocks; ``reading`` opens the
estimator, scores the rows once and maps the direction back to the features that
entered; ``_verdict`` decides whether these rows trained the model;
:mod:`skauc.adaptive` is the model of the data set; :mod:`skauc.leave_pair_out` or
``_left_out_rows`` leave rows out; ``_evaluation`` joins them into one posterior with
its doubts. ``_candidates``, ``_search`` and ``_diagnose`` start from evaluations.

This folder may import all others except ``displays`` and ``distributed``.
"""
