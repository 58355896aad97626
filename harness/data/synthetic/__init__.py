"""Competition-shaped raw files of any size: from a layout, three sizes and a seed to CSV files.

The bytes are a function of layout, users, items, events and seed alone. The samples under `data/`
were made with `SAMPLES`:

>>> for folder, (layout, seed) in SAMPLES.items():  # doctest: +SKIP
...     synthesise(layout, Path(folder), seed=seed, gzip=True)
"""

from collections.abc import Callable
from pathlib import Path

from harness.core.errors import UsageError
from harness.core.io import exists
from harness.data.synthetic import hm, kion, ponpare
from harness.data.synthetic.draw import ARTICLE_LIMIT
from harness.data.synthetic.market import Market
from harness.data.synthetic.write import write_tables

__all__ = ["DEFAULTS", "SAMPLES", "synthesise"]


DEFAULTS = {
    "hm": {"users": 1700, "items": 800, "events": 9_000},
    "ponpare": {"users": 1050, "items": 550, "events": 10_000},
    "kion": {"users": 1500, "items": 600, "events": 12_000},
}
"""What `None` stands for in `synthesise`."""

_LAYOUTS = {"hm": hm, "ponpare": ponpare, "kion": kion}

SAMPLES = {"data/hm-sample": ("hm", 0), "data/ponpare-sample": ("ponpare", 1)}
"""Layout and seed of the committed samples; their sizes are the defaults."""


def synthesise(
    layout: str,
    out: Path,
    *,
    users: int | None = None,
    items: int | None = None,
    events: int | None = None,
    seed: int = 0,
    gzip: bool = False,
    progress: Callable[[int], object] | None = None,
) -> list[Path]:
    """Write the raw files of a competition; existing files of the same names are replaced.

    Parameters
    ----------
    layout : {"hm", "ponpare", "kion"}
    out : Path
        Folder of the files, made if need be. Nothing is left in it unless all could be written.
    users, items, events : int, optional
        Rows of the user and item tables and of the log (Ponpare: visits and purchases together);
        `DEFAULTS` where None.
    seed : int, default 0
        The same arguments give the same bytes.
    gzip : bool, default False
        Write `.csv.gz`.
    progress : callable, optional
        Called with the number of log rows just written.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    UsageError
        For an unknown layout, a size below 1, more items than ids, a negative seed, or an `out`
        that is a file.
    """
    if layout not in DEFAULTS:
        raise UsageError(f"layout: found {layout!r}; allowed: {', '.join(sorted(DEFAULTS))}")
    sizes = {"users": users, "items": items, "events": events}
    size = DEFAULTS[layout] | {name: n for name, n in sizes.items() if n is not None}
    for name, value in {**size, "seed": seed}.items():
        least = 0 if name == "seed" else 1
        if value < least:
            raise UsageError(f"{name}: found {value:,}; expected {least} or more")
    if size["items"] > ARTICLE_LIMIT:
        raise UsageError(
            f"items: found {size['items']:,}; expected at most {ARTICLE_LIMIT:,}, as there are "
            "no more ids"
        )
    if exists(out) and not out.is_dir():
        raise UsageError(f"out: {out} is a file; name a folder")
    market = Market(_LAYOUTS[layout].RULES, **size, seed=seed, progress=progress)
    return write_tables(_LAYOUTS[layout].tables(market), out, compress=gzip)
