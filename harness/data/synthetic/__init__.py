"""Competition-shaped raw files of any size: from a layout, three sizes and a seed to CSV files.

The bytes are a function of layout, users, items, events and seed alone.
"""

import gzip as gzip_
from collections.abc import Callable
from contextlib import ExitStack
from io import BufferedIOBase
from pathlib import Path

from harness.core.errors import UsageError
from harness.core.io import exists, scratch_folder
from harness.data.synthetic import hm, kion, ponpare
from harness.data.synthetic.draw import ARTICLE_LIMIT, Tables
from harness.data.synthetic.market import Market

__all__ = ["DEFAULTS", "synthesise"]


DEFAULTS = {
    "hm": {"users": 1700, "items": 800, "events": 9_000},
    "ponpare": {"users": 1050, "items": 550, "events": 10_000},
    "kion": {"users": 1500, "items": 600, "events": 12_000},
}
"""What `None` stands for in `synthesise`."""

_SHOPS = {"hm": hm, "ponpare": ponpare, "kion": kion}
_LEVEL = 9


def synthesise(
    layout: str,
    out: Path,
    *,
    users: int | None = None,
    items: int | None = None,
    events: int | None = None,
    seed: int = 0,
    gzip: bool = False,
    progress: Callable[[int], object] = lambda rows: None,
) -> list[Path]:
    """Write the raw files of a competition; return them. Files of the same names are replaced.

    Nothing is left in the folder `out` unless all could be written. `users`, `items` and `events`
    are rows of the tables (of Ponpare, visits and purchases together), by default `DEFAULTS`.
    `progress` is told the rows of the log as they are written.
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
    shop = _SHOPS[layout]
    market = Market(shop.RULES, **size, seed=seed, progress=progress)
    try:
        with scratch_folder(out) as draft:
            return _publish(_write(shop.tables(market), draft, compress=gzip), out)
    except OSError as error:
        raise UsageError(
            f"{out}: cannot be written: {error.strerror or error}; fix this, or name another --out"
        ) from error


def _write(tables: Tables, folder: Path, *, compress: bool) -> list[Path]:
    """Write each frame behind those of the same file name, under one header."""
    files: dict[Path, BufferedIOBase] = {}
    with ExitStack() as stack:
        for name, frame in tables:
            path = folder / (f"{name}.csv.gz" if compress else f"{name}.csv")
            # In one piece: how it is cut decides the compressed bytes.
            text = frame.write_csv(include_header=path not in files).encode()
            del frame  # before the next is made
            if path not in files:
                files[path] = stack.enter_context(path.open("wb"))
                if compress:  # without a time stamp
                    packed = gzip_.GzipFile("", "wb", _LEVEL, files[path], mtime=0)
                    files[path] = stack.enter_context(packed)
            files[path].write(text)
    return list(files)


def _publish(files: list[Path], out: Path) -> list[Path]:
    """Move files that are complete into `out`; all at once where it is not there yet."""
    if not out.exists():
        files[0].parent.replace(out)
    else:
        for file in files:
            file.replace(out / file.name)
            # The same table in the other form would now be stale.
            packed = file.name.endswith(".gz")
            twin = file.name.removesuffix(".gz") if packed else f"{file.name}.gz"
            (out / twin).unlink(missing_ok=True)
    return [out / file.name for file in files]
