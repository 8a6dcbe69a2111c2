"""Of classes that vary far apart a number is not told without a warning."""

import warnings

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skauc import (
    ResubstitutionSplit,
    UntrustedAUCWarning,
    bayesian_val_score,
    cbauc_scorer,
    clear_cache,
)


def noise(spread, P=200, n_pos=12):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(60) < n_pos).astype(int)
    return rng.normal(size=(60, P)) * np.where(y, spread, 1.0)[:, None], y


@pytest.mark.parametrize("P", [20, 200])
def test_a_small_class_that_varies_more_is_warned_of(P):
    with pytest.warns(UntrustedAUCWarning, match="One class varies far more than the"):
        posterior = bayesian_val_score(LogisticRegression(), *noise(3.0, P))
    low, high = posterior.interval(0.95)
    assert low < 0.5 < high
    assert any("varies far more" in reason for reason in posterior.warnings)


def test_a_search_says_it_once():
    clear_cache()
    model = make_pipeline(SelectKBest(k=5), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        search.fit(*noise(3.0))
    assert sum("varies far more" in str(one.message) for one in said) == 1


def test_classes_that_vary_alike_are_not_warned_of():
    posterior = bayesian_val_score(LogisticRegression(), *noise(1.0))
    assert posterior.warnings == ()
