"""Draws recall at 1 to 20 for each ranking."""

from __future__ import annotations

from testlore.errors import Unusable
from testlore.evaluate import Evaluation
from testlore.stages.call import MAX_LIMIT

ENDINGS = (".png", ".svg")


def check(path: str) -> None:
    """Refuse a chart that cannot be drawn. Call it before measuring, which takes long.

    Raises:
        Unusable: ``call-invalid``: the path has another ending, or matplotlib is missing.
    """
    if not path.lower().endswith(ENDINGS):
        raise Unusable("call-invalid", f"chart is {path!r:.200}; allowed: a path that ends with .png or .svg")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise Unusable("call-invalid", "chart needs matplotlib: pip install 'testlore-recall[plot]'") from None


def draw(evaluation: Evaluation, path: str) -> None:
    """Draw recall at k into a PNG or SVG file.

    Raises:
        Unusable: ``call-invalid``: the file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    ks = range(1, MAX_LIMIT + 1)
    for one in evaluation.figures:
        if one.ranks:
            axes.plot(ks, [one.recall_at(k) or 0.0 for k in ks], marker=".", label=one.name)
    axes.set(
        xlabel="k",
        ylabel="recall at k",
        ylim=(0, 1),
        xticks=[1, 5, 10, 15, 20],
        title=f"{evaluation.repository}: {len(evaluation.commits)} commits at {evaluation.head[:12]}",
    )
    axes.grid(alpha=0.3)
    if evaluation.commits:
        axes.legend(loc="lower right", fontsize="small")
    try:
        figure.savefig(path)
    except OSError as error:
        raise Unusable("call-invalid", f"chart is {path!r:.200}: {error.strerror}") from None
