"""What a fitted estimator did to its rows: the only room that knows models.

``_estimators`` handles rows of every kind, fits and scores; ``_opened_model`` finds the
linear model and the steps in front of it; ``_steps`` takes its direction back to the
features that entered; ``_objective_of`` names what it minimised; ``_fitted_model``
joins all of this for one model on given rows.
"""
