"""Print statsmodels_logit.json: fits of statsmodels on its own example sets.

Needs statsmodels: ``python statsmodels_logit.py > statsmodels_logit.json``.
The data come with statsmodels, so they are written beside the numbers. Clusters are
four rows in a row. (statsmodels' HC1 of a logit is its HC0, without a factor.)
"""

import json

import numpy as np


def fit(name, model, X, y):
    import statsmodels.api as sm

    _, codes = np.unique(y, return_inverse=True)
    result = model(codes, sm.add_constant(X, prepend=True)).fit(
        method="newton", tol=1e-14, maxiter=100, disp=0
    )
    robust = {}
    if codes.max() == 1:
        groups = np.arange(len(codes)) // 4
        for kind, options in (("HC0", None), ("cluster", {"groups": groups})):
            again = model(codes, sm.add_constant(X, prepend=True)).fit(
                method="newton",
                tol=1e-14,
                maxiter=100,
                disp=0,
                cov_type=kind,
                cov_kwds=options,
            )
            robust[kind] = np.asarray(again.bse).tolist()
    params, bse = np.atleast_2d(np.asarray(result.params).T), np.asarray(result.bse).T
    return {
        "name": name,
        "n_classes": int(codes.max() + 1),
        "X": X.tolist(),
        "codes": codes.tolist(),
        "params": params.tolist(),
        "bse": np.atleast_2d(bse).tolist(),
        "llf": float(result.llf),
    } | robust


def main():
    import statsmodels.api as sm

    spector = sm.datasets.spector.load_pandas()
    fair = sm.datasets.fair.load_pandas().data.iloc[::8]
    anes = sm.datasets.anes96.load_pandas()
    voters = np.column_stack(
        [
            np.log(anes.data["popul"] + 0.1),
            anes.data[["selfLR", "age", "educ", "income"]].to_numpy(),
        ]
    )
    cases = [
        fit("spector", sm.Logit, spector.exog.to_numpy(), spector.endog.to_numpy()),
        fit(
            "fair, every 8th row",
            sm.Logit,
            fair.drop(columns="affairs").to_numpy(),
            (fair["affairs"] > 0).to_numpy(),
        ),
        fit("anes96", sm.MNLogit, voters, anes.data["PID"].to_numpy()),
    ]
    print(json.dumps(cases))


if __name__ == "__main__":
    main()
