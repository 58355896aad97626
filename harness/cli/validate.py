"""``harness validate``: everything that is wrong with a submission."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.papers import ConfigOption, SolutionOption
from harness.cli.show import Format, FormatOption, show
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.submission.against import Against


def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The submission: CSV, .gz or .zip.")],
    config: ConfigOption = None,
    sample: Annotated[
        Path | None, typer.Option(help="A file with a row for each id that must be there.")
    ] = None,
    solution: SolutionOption = None,
    items: Annotated[
        Path | None, typer.Option(help="With a sample: a table of all items, ids first.")
    ] = None,
    k: Annotated[int | None, typer.Option("--k", help="The longest list; the format's.")] = None,
    fix: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write the file there, mended.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are errors.")] = False,
    format_: FormatOption = Format.TABLE,
) -> int:
    """Say everything that is wrong with a submission: where, how often, how to mend it."""
    from harness.report import validated
    from harness.submission.validate import validate as check

    began = time.perf_counter()
    against = _against(file, config, sample, solution, items).cut_at(k)
    found = check(file, against, strict=strict)
    if format_ is Format.TABLE:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print(validated.text(found, time.perf_counter() - began, width))
    else:
        show(format_, found.to_dict(), [validated.sheet(found)], validated.records(found))
    if fix is not None:
        from harness.submission.fix import fix as mend

        fixed = mend(file, against, fix)
        left = check(fix, against, strict=strict)
        print(validated.mended(fixed, left), file=sys.stderr)
        return 0 if left.valid else 1
    return 0 if found.valid else 1


def _against(
    file: Path,
    config: Path | None,
    sample: Path | None,
    solution: Path | None,
    items: Path | None,
) -> Against:
    from harness import config as config_
    from harness.submission import against

    given = {"--config": config, "--sample": sample, "--solution": solution}
    named = [option for option, path in given.items() if path is not None]
    if len(named) > 1:
        raise UsageError(f"{file}: give one of {', '.join(given)}, not {' and '.join(named)}")
    if items is not None and sample is None:
        raise UsageError(f"--items {items} goes with --sample")
    if config is not None:
        return against.of_config(config_.read(config))
    if sample is not None:
        return against.of_sample(sample, items)
    return against.Against() if solution is None else against.of_solution(solution)
