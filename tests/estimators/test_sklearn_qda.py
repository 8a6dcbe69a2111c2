"""Scikit-learn's own tests of QDA, run on our subclass."""

import pytest
import sklearn.tests.test_discriminant_analysis as theirs

from skauc import QuadraticDiscriminantROC

for _name, _test in list(vars(theirs).items()):
    if (
        _name.startswith("test_")
        and "QuadraticDiscriminantAnalysis" in _test.__code__.co_names
    ):
        globals()[_name] = _test

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(autouse=True)
def ours_in_place_of_theirs(monkeypatch):
    monkeypatch.setattr(
        theirs, "QuadraticDiscriminantAnalysis", QuadraticDiscriminantROC
    )


@pytest.fixture
def global_random_seed():
    """A fixture of scikit-learn's own test suite."""
    return 42


def test_their_tests_are_here():
    assert sum(name.startswith("test_qda") for name in globals()) >= 5
