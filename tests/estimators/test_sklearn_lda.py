"""Scikit-learn's own tests of LDA, run on our subclass."""

import pytest
import sklearn.tests.test_discriminant_analysis as theirs

from skauc import LinearDiscriminantROC

# All tests of the module that use the class, but for the one that spells its name in
# the names of the transformed features.
for _name, _test in list(vars(theirs).items()):
    if (
        _name.startswith("test_")
        and "LinearDiscriminantAnalysis" in _test.__code__.co_names
        and _name != "test_get_feature_names_out"
    ):
        globals()[_name] = _test

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(autouse=True)
def ours_in_place_of_theirs(monkeypatch):
    monkeypatch.setattr(theirs, "LinearDiscriminantAnalysis", LinearDiscriminantROC)


def test_their_tests_are_here():
    assert sum(name.startswith("test_lda") for name in globals()) >= 12


def test_feature_names_spell_our_class():
    names = LinearDiscriminantROC().fit(theirs.X, theirs.y3).get_feature_names_out()
    assert names.tolist() == ["lineardiscriminantroc0", "lineardiscriminantroc1"]
