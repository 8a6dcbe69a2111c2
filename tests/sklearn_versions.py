"""What scikit-learn is told in other words from one version to the next."""

from sklearn.linear_model import LogisticRegression


def l1_part(ratio):
    """Arguments of a logistic regression with that share of L1 in its penalty."""
    if LogisticRegression().penalty == "deprecated":  # 1.8 and later
        return {"l1_ratio": ratio}
    if ratio == 1:
        return {"penalty": "l1"}
    return {"penalty": "elasticnet", "l1_ratio": ratio}
