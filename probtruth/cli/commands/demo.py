"""`probtruth demo`: the whole line on embedded data."""

from probtruth.cli import options as opt
from probtruth.cli.commands.run import RunFiles, evaluate_and_report


def demo(
    shown: opt.Printed,
    out: opt.Out = "probtruth-demo",
    seed: opt.Seed = 0,
    time: opt.Time = None,
) -> None:
    """Evaluate embedded data: print the verdict, write a report."""
    from probtruth import demo as data

    console = shown.console()
    annotations, predictions = data.paths()
    named = [f"{name}={path}" for name, path in predictions.items()]
    console.note(data.NOTE)
    options = {"method": None, "estimand": None, "rope": 0.01, "seed": seed}
    files = RunFiles(
        columns=opt.AnnotationColumns(), machine=opt.Machine(), predictions=named, annotations=str(annotations)
    )
    evaluate_and_report(files, options, out, console, data.NOTE)
