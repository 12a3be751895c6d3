"""scikit-learn: what its cross-validation and its grid searches return. scikit-learn itself is not imported."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

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

    The folds of one data set share training data: write `compare(scores, replicates="folds", fold_correlation=1 / k)`
    for k folds, since `compare` takes items to be independent otherwise. Searches over several data sets give data sets
    as items and folds as replicates; data sets are independent.

    Arguments:
        results: `search.cv_results_` (a dict, or a dataframe of it), or {data set: cv_results_}.
        metric: the name after `test_` (`score` with a single metric).
        names: the names of the candidates, by default their parameters as text.
        higher_is_better: holds for all scorers of scikit-learn (losses among them are negated, as in `neg_log_loss`).

    Errors: `InputError` for a missing metric, a NaN (a fold that failed), or candidates without distinct names.

    Source: Nadeau and Bengio 2003, doi:10.1023/A:1024068626366.

    >>> import probtruth as pt
    >>> results = {"params": [{"C": 1}, {"C": 10}], "split0_test_score": [0.8, 0.9], "split1_test_score": [0.7, 0.6]}
    >>> scores = pt.loaders.read_cv_results(results)
    >>> scores.models, scores.items, scores.values.tolist()
    (('C=1', 'C=10'), ('0', '1'), [[0.8, 0.7], [0.9, 0.6]])
    """
    several = isinstance(results, Mapping) and results and all(map(_is_results, results.values()))
    of_data: Mapping[Any, Any] = results if several else {"data": results}  # type: ignore[assignment]
    check.unique([*map(name_text, of_data)], "data set")
    rows = [row for data, own in of_data.items() for row in _rows(name_text(data), own, metric, names)]
    columns = dict(zip(("data", "fold", "model", metric), map(list, zip(*rows, strict=True)), strict=True))
    item, replicate = ("data", "fold") if several else ("fold", None)
    return Scores.from_frame(
        columns, item=item, score=metric, replicate=replicate, higher_is_better=higher_is_better, source=SOURCE
    )


def _is_results(value: object) -> bool:
    return isinstance(value, Mapping) or (hasattr(value, "columns") and hasattr(value, "__getitem__"))


def _rows(data: str, results: Any, metric: str, names: Iterable[object] | None) -> Iterator[tuple[object, ...]]:
    """The data set, fold, candidate and score of each row of a long table."""
    if not _is_results(results):
        raise InputError(type(results).__name__, "cv_results_, a dict or dataframe", "Give search.cv_results_.")
    matches = [match for key in results if (match := FOLD.fullmatch(str(key)))]
    folds = sorted((int(match[1]), match.string) for match in matches if match[2] == metric)
    if not folds:
        metrics = sorted({match[2] for match in matches})
        raise InputError(
            f"no column split0_test_{metric[: check.LONGEST]}",
            "cv_results_ of a grid search, with that metric",
            check.did_you_mean(metric, metrics) if metrics else "Give search.cv_results_.",
        )
    models: list[str] = []
    for fold, key in folds:
        scores = check_arrays.as_floats(results[key], "model", f"scores of fold {fold}")
        models = models or _candidates(results, len(scores), names)
        check.length(len(scores), len(models), "scores of a fold")
        for model, score in zip(models, scores.tolist(), strict=True):
            if np.isnan(score):
                raise InputError(
                    f"NaN for {check.quote(model)} in fold {fold}",
                    "a score in every fold",
                    "The fit failed there: set error_score='raise' to see why, or leave the candidate out.",
                )
            yield data, str(fold), model, score


def _candidates(results: Any, n_models: int, names: Iterable[object] | None) -> list[str]:
    if names is not None:
        candidates = list(as_names(names, "names") or ())
        check.length(len(candidates), n_models, "names")
    else:
        params = list(results["params"]) if "params" in results else []
        if len(params) != n_models or not all(isinstance(one, Mapping) for one in params):
            raise InputError("results without params", "one dict for each candidate", "Give names=[...].")
        candidates = [", ".join(f"{key}={_short(value)}" for key, value in one.items()) or "default" for one in params]
    check.unique(candidates, "candidate")
    return candidates


def _short(value: object) -> str:
    """A parameter in a name: numbers and text as they are, an object by its type's name."""
    plain = isinstance(value, (str, bool, int, float, np.generic)) or value is None
    return name_text(value)[: check.LONGEST] if plain else type(value).__name__
