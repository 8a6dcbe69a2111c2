"""Scikit-learn's own tests of LDA and QDA, run on our subclasses."""

import pytest
import sklearn.tests.test_discriminant_analysis as theirs

from skauc import LinearDiscriminantROC, QuadraticDiscriminantROC

OURS = {
    "LinearDiscriminantAnalysis": LinearDiscriminantROC,
    "QuadraticDiscriminantAnalysis": QuadraticDiscriminantROC,
}
# All tests of the module that use a class, but for the one that spells its name in the
# names of the transformed features.
for _name, _test in list(vars(theirs).items()):
    if (
        _name.startswith("test_")
        and not OURS.keys().isdisjoint(_test.__code__.co_names)
        and _name != "test_get_feature_names_out"
    ):
        globals()[_name] = _test

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(autouse=True)
def ours_in_place_of_theirs(monkeypatch):
    for name, ours in OURS.items():
        monkeypatch.setattr(theirs, name, ours)


@pytest.fixture
def global_random_seed():
    """A fixture of scikit-learn's own test suite."""
    return 42


def test_their_tests_are_here():
    for start, least in (("test_lda", 12), ("test_qda", 5)):
        assert sum(name.startswith(start) for name in globals()) >= least


def test_feature_names_spell_our_class():
    names = LinearDiscriminantROC().fit(theirs.X, theirs.y3).get_feature_names_out()
    assert names.tolist() == ["lineardiscriminantroc0", "lineardiscriminantroc1"]
