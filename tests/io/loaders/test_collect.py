from probtruth.io.loaders.collect import LogSample, Tool, differences


class Counted(str):
    """A name that counts how often it is compared or looked up."""

    __slots__ = ()
    uses = 0

    def __eq__(self, other: object) -> bool:
        Counted.uses += 1
        return str.__eq__(self, other)

    def __hash__(self) -> int:
        Counted.uses += 1
        return str.__hash__(self)


def uses_of(n_items: int) -> int:
    """How often names were used to match two models of which half of the items are other questions."""
    samples = [
        LogSample(item=Counted(f"q{item}"), model=model, task="", where="", content=f"{item}{model * (item % 2)}")
        for model in "ab"
        for item in range(n_items)
    ]
    Counted.uses = 0
    assert len(differences(samples, Tool("logs", "")).different) == n_items // 2
    return Counted.uses


def test_matching_items_of_which_half_differ_is_linear():
    """Twice the items took four times as long: 3, 10, 33 s at 5, 10 and 20 thousand."""
    small, large = uses_of(400), uses_of(800)
    assert small > 400
    assert large < 2.2 * small
