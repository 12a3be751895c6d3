"""What a message proposes to type is typed: it must succeed, and mean what the message says."""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars
import pytest
from hint_files import write_all
from proposals import options_in, with_options

Json = dict[str, Any]
Typed = Callable[..., Any]
MODELS = "--predictions sharp=sharp.csv --predictions flat=flat.csv"
FOLDS = "compare folds.csv --item fold --score accuracy --engine exact"
RUN = f"run --annotations labels.csv {MODELS} --engine exact"


def predictions(suffix: str) -> str:
    return f"--predictions sharp=sharp{suffix}.csv --predictions flat=flat{suffix}.csv"


def labels_are(*names: str) -> Callable[[Json], bool]:
    listed = ", ".join(map(repr, sorted(names)))
    return lambda found: found["files"][0]["holds"][0].endswith(f"; labels {listed}")


def is_kind(word: str) -> Callable[[Json], bool]:
    return lambda found: word in found["files"][0]["kind"]


def sharp_leads(found: Json) -> bool:
    return found["models"][0]["model"] == "sharp" and 0.2 < found["models"][0]["score"] < 1


def counts_upwards(found: Json) -> bool:
    return found["higher_is_better"] is True


def counts_downwards(found: Json) -> bool:
    return found["higher_is_better"] is False


def not_of_folds(found: Json) -> bool:
    """No warning of folds is left, and P is near that of Nadeau and Bengio's t-test: 0.9803 by scipy.stats.t, 9 df."""
    assert not any("folds" in warning for warning in found["warnings"])
    return 0.97 < found["pairwise"][0]["p_a_better"] < 0.985


def rule_is(name: str) -> Callable[[Json], bool]:
    return lambda found: found["rule"] == name


def any_result(found: Json) -> bool:
    return bool(found)


@dataclass(frozen=True)
class Case:
    """A command that fails or notes something, what it proposes, and what each proposal must mean.

    `proposed` is {what is typed, in the message's words: what the result must be}; with `fill`, words in capitals are
    the user's to fill in. Without an entry for a proposal in the message, or without the proposal, the case fails.
    """

    command: str
    proposed: dict[str, Callable[[Json], bool]]
    fill: dict[str, str] | None = None
    is_note: bool = False


CASES = {
    "percentages": Case(f"run --annotations labels.csv {predictions('-percent')}", {"--kind percent": sharp_leads}),
    "logits": Case(f"run --annotations labels.csv {predictions('-logits')}", {"--kind logits": any_result}),
    "rows that sum to less": Case(
        f"run --annotations labels.csv {predictions('-short')}", {"--renormalise": sharp_leads}
    ),
    "scores of models, one a column": Case(
        "check prompts.csv",
        {
            "--item prompt --format wide": lambda found: (
                {row["model"] for row in found["models"]} == {"ours", "theirs"}
            ),
            "--renormalise": is_kind("probabilities"),
        },
        fill={
            "--item prompt --format wide": (
                "probtruth compare prompts.csv --higher-is-better --item prompt --format wide"
            ),
        },
    ),
    "the logit of an event": Case(
        f"run --annotations labels.csv {predictions('-event')}", {"--kind logits": any_result}
    ),
    "logits that are probabilities": Case(f"{RUN} --kind logits", {"--kind probs": sharp_leads}, is_note=True),
    "which way scores count": Case(
        "compare scores.csv", {"--higher-is-better": counts_upwards, "--lower-is-better": counts_downwards}
    ),
    "which way, said by check": Case(
        "check scores.csv",
        {"--higher-is-better": counts_upwards, "--lower-is-better": counts_downwards},
        fill={
            "--higher-is-better": "probtruth compare scores.csv --higher-is-better",
            "--lower-is-better": "probtruth compare scores.csv --lower-is-better",
        },
        is_note=True,
    ),
    "a percentage of a score": Case(
        "compare scores.csv --higher-is-better --rope 2%", {"--rope NUMBER": lambda found: found["rope"] < 0.2}
    ),
    "whole numbers": Case("check codes.csv", {"--format counts": is_kind("counts"), "--format wide": is_kind("wide")}),
    "other names of columns": Case(
        "check renamed.csv",
        {
            "--format wide": is_kind("wide"),
            "--item _unit_id --annotator _worker_id --label answer": labels_are("no", "yes"),
        },
        fill={"--format wide": "probtruth check wide.csv --format wide"},
    ),
    "a question": Case("check export.json", {"--label mood": labels_are("good", "bad")}),
    "a scorer": Case("compare inspect", {"--score judge": rule_is("judge")}),
    "a metric": Case("compare helm", {"--score exact_match": rule_is("exact_match")}),
    "the metric of a task": Case(
        "compare logs --metric acc --task arc --task mt --higher-is-better",
        {"--metric mt=bleu": any_result},
    ),
    "metrics that count in two ways": Case(
        "compare logs --metric arc=acc --metric mt=ter",
        {"--task NAME": rule_is("acc"), "--metric TASK=NAME": any_result},
        fill={
            "--task NAME": "probtruth compare logs --metric arc=acc --task arc",
            "--metric TASK=NAME": "--metric arc=acc --metric mt=bleu",
        },
    ),
    "an object of annotators": Case(
        "check lewidi.jsonl --format chaosnli --label annotations", {"--format lewidi": labels_are("0", "1")}
    ),
    "all votes in a cell": Case(
        "check nested.jsonl",
        {"--format chaosnli": labels_are("x", "y"), "--format wide": is_kind("wide")},
        fill={
            "--format chaosnli": "--format chaosnli --label cell",
            "--format wide": "probtruth check wide.csv --format wide",
        },
    ),
    "a label that means none": Case(
        "truth blanks.csv --method vote-share",
        {"--missing=NA": lambda found: "NA" not in json.dumps(found)},
        is_note=True,
    ),
    "a score that means none": Case(
        "compare failed.csv --higher-is-better",
        {"--missing=-1": lambda found: min(row["score"] for row in found["models"]) > 0},
        is_note=True,
    ),
    "seeds that are noise of their own": Case(
        "compare seeds.csv --higher-is-better --replicate seed",
        {"--replicates crossed": lambda found: "new replicates" in found["estimand"]},
        is_note=True,
    ),
    "a condition": Case(
        f"{RUN} --fail-if p_bad", {"--fail-if 'p_worse > 0.9'": any_result, "--fail-if inconclusive": any_result}
    ),
    "a condition with a ROPE": Case(f"{RUN} --fail-if 'p_equivalent > 0.5'", {"--rope 0.01": any_result}),
    "a baseline": Case(f"{RUN} --baseline sharp", {"--fail-if 'p_worse > 0.9'": any_result}),
    "settings": Case("--config probtruth-broken.toml check labels.csv", {"--config off": any_result}),
    "costs": Case(
        "plan scores.csv --higher-is-better --cost much",
        {"--cost item=1 --cost annotation=0.1": any_result},
        fill={"--cost item=1 --cost annotation=0.1": "--cost item=1"},
    ),
    "no labels": Case(f"run {MODELS}", {"--annotations labels.csv": sharp_leads, "--soft soft.parquet": any_result}),
    "no predictions": Case(
        "run --annotations labels.csv",
        {"--predictions my_model=probs.csv": any_result},
        fill={"--predictions my_model=probs.csv": "--predictions my_model=sharp.csv"},
    ),
    "a file without the name of a model": Case(
        "run --annotations labels.csv --predictions sharp.csv",
        {"--predictions sharp=sharp.csv": lambda found: found["models"][0]["model"] == "sharp"},
    ),
    "annotations in place of soft labels": Case(
        f"score --truth labels.csv {MODELS} --out never.parquet",
        {
            "--out soft.parquet": any_result,
            "--each annotation": lambda found: found["models"].keys() == {"sharp", "flat"},
        },
        fill={"--out soft.parquet": "probtruth truth labels.csv --out again.parquet"},
    ),
    "expert labels under opinions": Case(
        f"{RUN} --gold gold.csv --estimand distribution",
        {"--estimand class": lambda found: found["truth"]["estimand"] == "class"},
    ),
    "an output that is taken": Case(
        f"{RUN} --out .", {"--out results": lambda found: Path("results/report.html").exists()}
    ),
    "a board": Case(
        "compare board.csv --item benchmark --higher-is-better",
        {
            "--format wide": lambda found: {row["model"] for row in found["models"]} == {"ours", "theirs"},
            "--transpose": lambda found: {row["model"] for row in found["models"]} == {f"t{n}" for n in range(6)},
        },
    ),
    "items in two columns": Case(
        f"run --soft soft-keys.csv {predictions('-keys')} --engine exact", {"--item key": any_result}
    ),
    "an annotator for each column": Case(
        "check wide.csv --format wide --annotator item",
        {"--annotator x,y": is_kind("wide")},
        fill={"--annotator x,y": "probtruth check wide.csv --format wide --annotator ann,bob,cy"},
    ),
    "annotations given as scores": Case(
        "compare export.json",
        {"`probtruth run`": any_result},
        fill={"`probtruth run`": "probtruth run --annotations export.json --label mood --predictions m=mood.csv"},
    ),
    "scores given as annotations": Case(
        "truth inspect/small.json",
        {"`probtruth compare`": rule_is("match")},
        fill={"`probtruth compare`": "probtruth compare inspect --score match"},
    ),
    "scores without the labels behind them": Case(
        "compare fewer.parquet --lower-is-better --engine exact",
        {"probtruth run": any_result},
        fill={"probtruth run": f"probtruth {RUN}"},
        is_note=True,
    ),
    "a method for soft labels": Case(
        f"run --soft soft.csv {MODELS} --truth mace",
        {"--truth and --estimand go with --annotations": any_result},
        fill={"--truth and --estimand go with --annotations": f"probtruth {RUN} --truth mace"},
    ),
    "classes without expert labels": Case(
        f"{RUN} --estimand class",
        {"probtruth choose-gold --items 40": lambda found: len(found["items"]) == 12},
        fill={
            "probtruth choose-gold --items 40": f"probtruth choose-gold --annotations labels.csv {MODELS} "
            "--items 12 --out to-label.csv"
        },
        is_note=True,
    ),
    "few expert labels": Case(
        f"{RUN} --gold few.csv --estimand class",
        {"probtruth choose-gold --items N": lambda found: len(found["items"]) == 12},
        fill={
            "probtruth choose-gold --items N": f"probtruth choose-gold --annotations labels.csv {MODELS} "
            "--items 12 --out more.csv"
        },
    ),
    "expert labels of a uniform sample": Case(
        f"{RUN} --gold gold.csv --estimand class",
        {"command line: probtruth choose-gold": lambda found: len(found["items"]) == 12},
        fill={
            "command line: probtruth choose-gold": f"probtruth choose-gold --annotations labels.csv {MODELS} "
            "--items 12 --out next.csv"
        },
        is_note=True,
    ),
    "items for an expert": Case(
        f"choose-gold --annotations labels.csv {MODELS} --items 12 --out chosen.csv",
        {"--gold chosen.csv": lambda found: found["gold"]["n_items"] == 16},
        fill={"--gold chosen.csv": f"probtruth {RUN} --gold gold.csv"},  # filled in
        is_note=True,
    ),
    "folds as items": Case(
        FOLDS,
        {"--replicates folds --fold-correlation 0.1": not_of_folds, "--replicates folds": not_of_folds},
        fill={"--replicates folds": f"probtruth {FOLDS} --replicates folds --fold-correlation 0.1"},
        is_note=True,
    ),
    "bounds": Case(
        "monitor scores.csv --state state.json --higher-is-better",
        {"--bounds LOW HIGH": any_result, "--method asymptotic": any_result},
        fill={"--bounds LOW HIGH": "--bounds 0 6", "--method asymptotic": "--method asymptotic --state other.json"},
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hints")
    write_all(folder)
    return folder


@pytest.fixture
def typed(place: Path, monkeypatch: pytest.MonkeyPatch, run: Typed) -> Typed:
    """Types a command in the folder of the files."""
    monkeypatch.chdir(place)
    return run


MESSAGES: dict[str, str] = {}  # What the command of each case said


def said(case: Case, typed: Typed) -> str:
    found = typed(case.command)
    assert found.status == (0 if case.is_note else 2), found.text
    return " ".join(found.text.split()) if case.is_note else found.err


@pytest.mark.parametrize("name", CASES)
def test_a_proposal_runs_and_means_what_it_says(name: str, typed: Typed, place: Path) -> None:
    case = CASES[name]
    if not (place / "soft.parquet").exists():
        assert typed("truth labels.csv --out soft.parquet").status == 0
        assert typed(f"score --truth soft.parquet {MODELS} --out losses.parquet").status == 0
        polars.read_parquet("losses.parquet")[1:].write_parquet("fewer.parquet")
    message = said(case, typed)
    MESSAGES[name] = message
    words = shlex.split(case.command)
    command = next(word for word in words if not word.startswith("-") and not word.endswith(".toml"))
    found = {" ".join(map(quoted, options)): options for options in options_in(message, command)}
    for proposal, means in case.proposed.items():
        tried = typed(*then(case, proposal, found, words, message), "--json")
        assert tried.status in (0, 1, 3) if "--fail-if" in proposal else tried.status == 0, f"{proposal}: {tried.err}"
        assert means(tried.json), f"{proposal}: {tried.out[:2000]}"
    left = [words for words in found if not any(covers(proposal, words) for proposal in case.proposed)]
    assert not left, f"proposed and not tried: {left}"


def quoted(word: str) -> str:
    return f"'{word}'" if " " in word else word


def covers(proposal: str, words: str) -> bool:
    """Whether a proposal of the case is one of the message; a word in capitals stands for any."""
    one, other = shlex.split(proposal.replace("=", " ")), shlex.split(words.replace("=", " "))
    return len(one) == len(other) and all(mine.isupper() or mine == its for mine, its in zip(one, other, strict=True))


def then(case: Case, proposal: str, found: dict[str, tuple[str, ...]], words: list[str], message: str) -> list[str]:
    """The command that follows the proposal."""
    fits = [options for text, options in found.items() if covers(proposal, text)]
    assert fits or proposal in message, f"{proposal} is not proposed: {message}"
    filled = (case.fill or {}).get(proposal)
    if filled is not None and filled.startswith("probtruth "):
        return shlex.split(filled)[1:]
    options = tuple(shlex.split(filled)) if filled is not None else fits[0] if fits else tuple(shlex.split(proposal))
    if words[0].startswith("--config"):
        return ["--config", "off", *words[2:]]
    return with_options(words, options)
