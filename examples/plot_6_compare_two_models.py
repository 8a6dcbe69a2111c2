"""
Is model B better than model A?
===============================

Two models on the same rows have AUCs that move together, so their two intervals say
little about the difference. Two answers to that: ``compare_auc``, DeLong's paired test
on rows that trained neither model, and ``auc_difference_posterior``, the probability
that B has the larger true AUC, from the training rows alone. Here on the diabetes data
(does the disease progress faster than in the median patient?): is it worth adding
triglycerides (column s5) to body mass index and blood pressure, and are they a better
blood value to add than HDL cholesterol (s3)?

``auc_difference_posterior`` takes the adaptive prior, which hears what rows left out
say of each model. Published priors are too sure of themselves where features are many.
Here they are harmless: they count for half a row of each class mean and P + 2 rows of
the covariance, and P is 5 or 6 (the columns of both models, 2 or 3 each, side by side)
against 221 rows. So they must nearly agree, and the last line about each question
tells how nearly they do.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import NormalInverseWishart, auc_difference_posterior, compare_auc

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
COLUMNS = {"bmi": 2, "bp": 3, "HDL": 6, "triglycerides": 8}


def fit(*names):
    """Logistic regression on some of the columns, fitted to the training rows."""
    columns = make_column_transformer(
        (StandardScaler(), [COLUMNS[name] for name in names])
    )
    return make_pipeline(columns, LogisticRegression()).fit(X_train, y_train)


with_triglycerides = fit("bmi", "bp", "triglycerides")
questions = {  # A and B
    "B triglycerides, A none": (fit("bmi", "bp"), with_triglycerides),
    "B triglycerides, A HDL": (fit("bmi", "bp", "HDL"), with_triglycerides),
}

# %%
# Both answers to both questions; sure means that the 95 % interval leaves out 0.
BLUE, ORANGE = "#0072B2", "#D55E00"


def answer(interval):
    """Yes, no or not sure: where the interval of B minus A lies."""
    low, high = interval
    return "yes" if low > 0 else "no" if high < 0 else "not sure"


def draw(axes, name, scores, test, posterior):
    """Hold-out ROC curves on the left, posterior of the difference on the right."""
    for score, label, color in zip(scores, "AB", (ORANGE, BLUE), strict=True):
        false_positive, true_positive, _ = roc_curve(y_test, score)
        label = f"{label}, AUC {roc_auc_score(y_test, score):.3f}"
        axes[0].plot(false_positive, true_positive, color=color, label=label)
    axes[0].legend(loc="lower right")
    axes[0].set(xlabel="false positive rate", ylabel="true positive rate")
    axes[0].set_title(f"{name}; {len(y_test)} hold-out rows")
    low, high = posterior.interval(0.95)
    axes[1].hist(posterior.difference, 80, density=True, color=BLUE, alpha=0.4)
    axes[1].axvspan(low, high, color=BLUE, alpha=0.12, lw=0, label="95 % posterior")
    axes[1].axvline(0, color="k", lw=1)
    axes[1].errorbar(
        test.difference,
        axes[1].get_ylim()[1] * 0.1,
        xerr=np.abs(np.subtract(test.confidence_interval(), test.difference))[:, None],
        fmt="o",
        color=ORANGE,
        capsize=4,
        label="95 % DeLong, hold-out",
    )
    axes[1].set(xlabel="AUC of B − AUC of A", yticks=[])
    axes[1].set_title(f"P(B better | training rows) = {posterior.probability:.3f}")
    axes[1].legend(fontsize=8)


def tell(name, test, posterior):
    """Two lines of the table, and whether they say the same."""
    lines = {
        "hold-out": (
            test.difference,
            test.confidence_interval(0.95),
            f"p = {test.pvalue:.4f}",
        ),
        "training rows": (
            posterior.mean(),
            posterior.interval(0.95),
            f"P(B better) = {posterior.probability:.3f}",
        ),
    }
    for rows, (difference, (low, high), evidence) in lines.items():
        print(
            f"{name:24} {rows:13} {difference:+6.3f} [{low:+.3f}, {high:+.3f}] ", end=""
        )
        print(f"{evidence:>20}  {answer((low, high))}")
    answers = [answer(interval) for _, interval, _ in lines.values()]
    print(
        f"  Both say: {answers[0]}."
        if answers[0] == answers[1]
        else f"  They differ: {answers[0]} on the hold-out, {answers[1]} in training."
    )


fig, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
print(f"{'':24} {'':13} {'B - A':>6} {'95 % interval':>16} {'':>20}  B better?")
for row, (name, (a, b)) in zip(axes, questions.items(), strict=True):
    score_a, score_b = (model.decision_function(X_test) for model in (a, b))
    test = compare_auc(y_test, score_b, score_a)
    posterior = auc_difference_posterior(b, a, X_train, y_train)
    tell(name, test, posterior)
    moved = [
        auc_difference_posterior(
            b, a, X_train, y_train, prior=NormalInverseWishart(scale=scale)
        ).probability
        - posterior.probability
        for scale in (0.25, 4)
    ]
    print(
        "  Published priors with a quarter of the variance, or with four times, ",
        end="",
    )
    print(f"move P(B better) by at most {np.abs(moved).max():.3f}.\n")
    draw(row, name, (score_a, score_b), test, posterior)
fig.savefig("plot_6_compare_two_models.png", dpi=80)
print("Figure: plot_6_compare_two_models.png")
