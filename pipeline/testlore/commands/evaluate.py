"""``testlore evaluate``: measure recall on the history of a git repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testlore.commands import Answer, add_json, output, respond

if TYPE_CHECKING:
    import argparse

HELP = "measure recall on the history of a git repository"
EXAMPLES = ("testlore evaluate --repo .", "testlore evaluate --repo ../other --chart recall.svg")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the repository and the chart."""
    parser.add_argument("--repo", required=True, metavar="DIR", help="a local git repository; nothing in it is run")
    add_json(parser)
    parser.add_argument(
        "--chart", metavar="FILE", help="draw recall at 1 to 20 into a .png or .svg file; needs the extra plot"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure, with a progress bar on standard error, and print the figures."""
    return respond(lambda: _answer(arguments.repo, arguments.root, arguments.chart), as_json=arguments.json)


def _answer(repository: str, root: str, chart: str | None) -> Answer:
    from testlore.evaluate import chart as drawing
    from testlore.evaluate import measure

    if chart is not None:
        drawing.check(chart)
    report = measure(repository, root, output.progress)
    if chart is not None:
        drawing.draw(report, chart)
    return Answer(report.to_dict(), report.to_table().removesuffix("\n"))
