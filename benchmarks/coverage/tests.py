"""Planned studies reach their power, and tests of AUCs keep their level: how well.

    python -m benchmarks.coverage.tests [--fast] [--replicates 20000] [--out DIR]

``results/tests/power.csv``: sizes of ``auc_sample_size``, the power promised for
them and the share of simulated binormal studies that reject; one AUC is tested by the
larger of Mann–Whitney's variance and DeLong's, a difference by DeLong's; for ``width``
the mean width of the default interval. ``results/tests/levels.csv``: how often
the methods of ``compare_auc`` reject at 5 % when both scores are equally good.
"""

import numpy as np
import pandas as pd
from scipy.special import ndtri

from benchmarks.panel.auc import delong_variance, placements
from benchmarks.tools.runs import parse
from benchmarks.tools.table import write_table
from skauc import auc_estimate, auc_power, auc_sample_size, compare_auc

SEED = 50_000
Z = -ndtri(0.025)
# AUC, AUC2, correlation, margin, ratio, method
DESIGNS = (
    (0.65, None, None, 0.0, 1.0, "obuchowski"),
    (0.75, None, None, 0.0, 1.0, "obuchowski"),
    (0.75, None, None, 0.0, 3.0, "obuchowski"),
    (0.65, None, None, 0.0, 1.0, "hanley_mcneil"),
    (0.75, None, None, 0.0, 3.0, "hanley_mcneil"),
    (0.65, None, None, 0.0, 1.0, "binormal"),
    (0.75, None, None, 0.0, 3.0, "binormal"),
    (0.80, 0.70, 0.5, 0.0, 1.0, None),
    (0.80, 0.70, 0.5, 0.0, 3.0, None),
    (0.90, 0.82, 0.3, 0.0, 0.5, None),
    (0.80, 0.70, None, 0.0, 1.0, None),
    (0.80, 0.80, 0.6, 0.08, 2.0, None),
)
WIDTHS = ((0.7, 0.2, 1.0), (0.85, 0.14, 1.0), (0.85, 0.14, 4.0), (0.95, 0.08, 2.0))
COLUMNS = ("quantity auc auc2 correlation margin method n_pos n_neg").split()
COLUMNS += ["promised", "reached", "replicates"]
SMALL = ((4, 4), (6, 6), (10, 10), (20, 20), (5, 30))  # n_neg, n_pos


def draw(rng, aucs, n_neg, n_pos, correlation, reps):
    """Scores of two tests, shape (2, reps, n), of the negatives and the positives."""
    mix = np.linalg.cholesky([[1, correlation], [correlation, 1]])
    shift = np.sqrt(2) * ndtri(aucs)
    neg = np.einsum("ij,jrn->irn", mix, rng.standard_normal((2, reps, n_neg)))
    pos = np.einsum("ij,jrn->irn", mix, rng.standard_normal((2, reps, n_pos)))
    return neg, pos + shift[:, None, None]


def reached(rng, design, n_pos, n_neg, reps):
    """Share of studies that reject."""
    auc, auc2, correlation, margin, _, _ = design
    neg, pos = draw(rng, [auc, auc2 or auc], n_neg, n_pos, correlation or 0.0, reps)
    v01, v10 = placements(neg, pos)
    found = v10.mean(axis=-1)
    if auc2 is None:
        gap = found.ravel() - 0.5
        scale = 4 * np.maximum(found * (1 - found), 1e-12)
        least = (n_neg + n_pos + 1) / (12 * n_neg * n_pos)
        variance = np.maximum(least, delong_variance(v01, v10) / scale).ravel()
    else:
        gap = found[0] - found[1] + margin
        if correlation is None:
            variance = delong_variance(v01, v10).sum(axis=0)
        else:
            variance = delong_variance(v01[0] - v01[1], v10[0] - v10[1])
    z = gap / np.sqrt(np.maximum(variance, 1e-30))  # a perfect ranking rejects
    return float((z > -ndtri(0.05) if margin else np.abs(z) > Z).mean())


def power_table(replicates, goals):
    """Rows of planned and reached power, and of widths."""
    rows = []
    for seed, design in enumerate(DESIGNS):
        auc, auc2, correlation, margin, ratio, method = design
        side = "greater" if margin else "two-sided"
        options = dict(auc2=auc2, correlation=correlation, margin=margin)
        options |= dict(method=method, alternative=side)
        for goal in goals:
            n_neg, n_pos = auc_sample_size(auc, power=goal, ratio=ratio, **options)
            rng = np.random.default_rng((SEED, seed, int(100 * goal)))
            promised = auc_power(auc, n_pos=n_pos, n_neg=n_neg, **options)
            got = reached(rng, design, n_pos, n_neg, replicates)
            sizes = {"n_pos": n_pos, "n_neg": n_neg, "promised": promised}
            rows.append({"quantity": "power", "auc": auc} | options | sizes)
            rows[-1] |= {"reached": got, "replicates": replicates}
    for seed, (auc, width, ratio) in enumerate(WIDTHS):
        for method in ("hanley_mcneil", "binormal", "obuchowski"):
            n_neg, n_pos = auc_sample_size(auc, width=width, ratio=ratio, method=method)
            rng = np.random.default_rng((SEED, 1000 + seed))
            scores = draw(rng, [auc, auc], n_neg, n_pos, 0.0, replicates // 20)
            y, both = np.repeat([0, 1], [n_neg, n_pos]), np.concatenate(scores, axis=-1)
            limits = (auc_estimate(y, s).confidence_interval() for s in both[0])
            got = float(np.diff(list(limits), axis=1).mean())
            row = {"quantity": "width", "auc": auc, "method": method}
            row |= {"n_pos": n_pos, "n_neg": n_neg, "promised": width}
            rows.append(row | {"reached": got, "replicates": len(both[0])})
    return pd.DataFrame(rows, dtype=object)[[*COLUMNS]]


def level_table(replicates, sizes):
    """How often tests of two equally good scores reject at 5 %."""
    rows = []
    for seed, (n_neg, n_pos) in enumerate(sizes):
        y = np.repeat([0, 1], [n_neg, n_pos])
        for auc in (0.7, 0.9):
            rng = np.random.default_rng((SEED, 2000 + seed, int(100 * auc)))
            neg, pos = draw(rng, [auc, auc], n_neg, n_pos, 0.5, replicates)
            scores = np.concatenate([neg, pos], axis=-1)
            for method in ("delong", "permutation", "delong, unpaired",
                           "welch, unpaired"):  # fmt: skip
                options, b = {"method": method.split(",")[0]}, scores[1]
                if method == "permutation":
                    options["n_resamples"] = 499
                if "unpaired" in method:
                    options["y_true_b"] = y
                    b = np.roll(b, 1, axis=0)  # scores of other rows
                p = [compare_auc(y, one, two, **options).pvalue
                     for one, two in zip(scores[0], b, strict=True)]  # fmt: skip
                rejected = float(np.mean(np.array(p) <= 0.05))
                row = {"method": method, "auc": auc, "n_neg": n_neg, "n_pos": n_pos}
                rows.append(row | {"rejected": rejected, "replicates": replicates})
    return rows


def main(argv=None):
    """Simulate and write both tables."""
    arguments = parse(__doc__, argv, folder="tests", replicates=20000)
    reps, goals, sizes = arguments.replicates, (0.8, 0.9), SMALL
    if arguments.fast:
        reps, goals, sizes = 200, goals[:1], SMALL[:1]
    write_table("power", power_table(reps, goals), arguments.out)
    write_table("levels", level_table(reps // 10, sizes), arguments.out)


if __name__ == "__main__":
    main()
