"""scikit-learn: what its cross-validation and its grid searches return. scikit-learn itself is not imported."""

import re
from collections.abc import Iterable, Mapping

import numpy as np

from probtruth import check, check_arrays
from probtruth.check import Source
from probtruth.errors import InputError
from probtruth.frames import name_text
from probtruth.types import Scores
from probtruth.types.arguments import Frame
from probtruth.types.index import as_names

SOURCE = Source("cv_results_")
FOLD = re.compile(r"split(\d+)_test_(.+)")


def read_cv_results(
    results: Frame | Mapping[str, Frame],
    metric: str = "score",
    names: Iterable[str | int] | None = None,
    higher_is_better: bool = True,
) -> Scores:
    """Scores from `cv_results_` of a grid search: candidates are the models, folds the items.

    The folds of one data set share training data: give their differences to `correlated_t_test`, with the correlation
    1/k for k folds, and not to `compare`, which takes items to be independent. Searches over several data sets give
    data sets as items and folds as replicates; data sets are independent, so `compare` is right for them.

    Arguments: `results` is `search.cv_results_` (a dict, or a dataframe of it), or {data set: cv_results_}; `metric` is
    the name after `test_` (`score` with a single metric); `names` the names of the candidates, by default their
    parameters as text; `higher_is_better` holds for all scorers of scikit-learn (losses among them are negated, as in
    `neg_log_loss`).

    Errors: `InputError` for a missing metric, a NaN (a fold that failed), or candidates without distinct names.

    Source: Nadeau and Bengio 2003, doi:10.1023/A:1024068626366.

    >>> import probtruth as pt
    >>> results = {"params": [{"C": 1}, {"C": 10}], "split0_test_score": [0.8, 0.9], "split1_test_score": [0.7, 0.6]}
    >>> scores = pt.loaders.read_cv_results(results)
    >>> scores.models, scores.items, scores.values.tolist()
    (('C=1', 'C=10'), ('0', '1'), [[0.8, 0.7], [0.9, 0.6]])
    """
    if isinstance(results, Mapping) and results and all(_is_results(one) for one in results.values()):
        parts = [_table(name_text(data), one, metric, names) for data, one in results.items()]
        check.unique([name_text(data) for data in results], "data set")
        frame = {key: [value for part in parts for value in part[key]] for key in parts[0]}
        return Scores.from_frame(
            frame, item="data", score=metric, replicate="fold", higher_is_better=higher_is_better, source=SOURCE
        )
    frame = _table("data", results, metric, names)
    return Scores.from_frame(frame, item="fold", score=metric, higher_is_better=higher_is_better, source=SOURCE)


def _is_results(value: object) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "columns")


def _table(data: str, results: object, metric: str, names: Iterable[object] | None) -> dict[str, list[object]]:
    columns = _columns(results)
    folds = {int(match[1]): key for key in columns if (match := FOLD.fullmatch(key)) and match[2] == metric}
    if not folds:
        metrics = sorted({match[2] for key in columns if (match := FOLD.fullmatch(key))})
        raise InputError(
            f"no column split0_test_{metric[: check.LONGEST]}",
            "cv_results_ of a grid search, with that metric",
            check.did_you_mean(metric, metrics) if metrics else "Give search.cv_results_.",
        )
    read = [check_arrays.as_floats(columns[folds[fold]], "model", f"scores of fold {fold}") for fold in sorted(folds)]
    for fold_scores in read:
        check.length(len(fold_scores), len(read[0]), "scores of a fold")
    values = np.stack(read, 1)
    models = _candidates(columns, len(values), names)
    bad = np.isnan(values)
    if bad.any():
        row, column = (int(axis[0]) for axis in np.nonzero(bad))
        raise InputError(
            f"NaN for {check.quote(models[row])} in fold {sorted(folds)[column]}",
            "a score in every fold",
            "The fit failed there: set error_score='raise' to see why, or leave the candidate out.",
        )
    n_models, n_folds = values.shape
    return {
        "data": [data] * values.size,
        "fold": [str(fold) for fold in sorted(folds)] * n_models,
        "model": [model for model in models for _ in range(n_folds)],
        metric: values.ravel().tolist(),
    }


def _columns(results: object) -> Mapping[str, object]:
    if isinstance(results, Mapping):
        return {str(key): value for key, value in results.items()}
    if hasattr(results, "columns") and hasattr(results, "__getitem__"):
        return {str(key): results[key] for key in results.columns}
    raise InputError(type(results).__name__, "cv_results_, a dict or dataframe", "Give search.cv_results_.")


def _candidates(columns: Mapping[str, object], n_models: int, names: Iterable[object] | None) -> list[str]:
    if names is not None:
        candidates = list(as_names(names, "names") or ())
        check.length(len(candidates), n_models, "names")
    else:
        params = columns.get("params")
        listed = list(params) if isinstance(params, Iterable) else []
        if len(listed) != n_models or not all(isinstance(one, Mapping) for one in listed):
            raise InputError("results without params", "one dict for each candidate", "Give names=[...].")
        candidates = [", ".join(f"{key}={_short(value)}" for key, value in one.items()) or "default" for one in listed]
    check.unique(candidates, "candidate")
    return candidates


def _short(value: object) -> str:
    """A parameter in a name: numbers and text as they are, an object by its type's name."""
    plain = isinstance(value, (str, bool, int, float, np.generic)) or value is None
    return name_text(value)[: check.LONGEST] if plain else type(value).__name__
