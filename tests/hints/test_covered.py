"""Every text that proposes something concrete has a test that runs it; a new one without a test fails here."""

import re

import pytest
from hint_texts import Text, texts
from test_calls import CALLS
from test_runs import CASES

# An option with a value or a switch, an argument with a literal value, a call of the package.
CONCRETE = re.compile(
    r"--[a-z][a-z-]+[ =](?!or\b|and\b|with\b|of\b|is\b|in\b|to\b|for\b|as\b|says?\b|--)['\"{\w.\[]"
    r"|--(higher-is-better|lower-is-better|renormalise|close|keep|transpose)"
    r"|(?<![\w.-])[a-z_]+=(\{'|'|\[|\(|True|False|\d)"
    r"|pt\.\w|probtruth (choose-gold|compare|run|truth|check|plan)\b"
)
# What names options or calls without proposing them.
NO_PROPOSALS = ("interrupted: what --out names", "--fail-if {}", "Leave --show out", "neither --annotations nor --soft")
# Proposals that are not run, and why.
NOT_RUN = {
    "'probtruth[inspect]'": "an installation of packages",
    "error_score='raise'": "an argument of scikit-learn's search",
    "Plan with n_{}s=2": "one annotator behind all items is refused before it, as for all plans",
    "Give prior=[...] yourself": "counts for which the fit fails are not known",
    "Give labels=[...] of all that can apply": "of multilabel annotations, in the tests of that method",
    "Choose items with probabilities that differ less": "weights that differ a thousandfold, as for few expert labels",
    "multiprocessing.get_context": "a setting of another library, before this one computes",
}


def proposing() -> list[Text]:
    found = []
    for text in texts():
        page = text.where.startswith(("probtruth/report/", "probtruth/cli/options.py", "probtruth/cli/help.py"))
        if (
            not page
            and not text.describes
            and CONCRETE.search(text.content)
            and not any(part in text.content for part in NO_PROPOSALS)
        ):
            found.append(text)
    return found


PARTS = [call.says for call in CALLS.values()] + [proposal for case in CASES.values() for proposal in case.proposed]


def is_run(text: Text) -> bool:
    """Whether some case runs what the text proposes: the words of the case stand in it, filled in or not."""
    plain = text.content.replace("={}", " {}")
    for part in PARTS:
        if part in text.content:
            return True
        option, _, value = part.replace("=", " ").partition(" ")
        forms = (f"{option} {{}}", f"--{{}} {value}") if option.startswith("--") else (f"{option} {{}}",)
        if value and any(form in plain for form in forms):
            return True
    return any(part in text.content for part in NOT_RUN)


@pytest.mark.parametrize("text", proposing(), ids=lambda text: text.where)
def test_a_proposal_has_a_test_that_runs_it(text: Text) -> None:
    assert is_run(text), f"{text.where} proposes what no case runs: {text.content}"
