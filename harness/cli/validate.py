"""``harness validate``: everything that is wrong with a submission."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import options
from harness.cli.log import note
from harness.cli.show import Format, FormatOption, show

if TYPE_CHECKING:
    from harness.submission.problems import Validation


def leave_processors() -> None:
    """Keep NumPy's algebra, which is not used here, from threads that wait by spinning."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def validate(
    file: options.Lists,
    beside_file: options.ConfigBeside = None,
    config: options.Config = None,
    sample: options.Sample = None,
    solution: options.Solution = None,
    items: options.Items = None,
    k: Annotated[
        int | None, typer.Option("--k", help="The longest list, if not the competition's.")
    ] = None,
    fix: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write the file there, mended.")
    ] = None,
    separator: options.Separator = None,
    strict: options.Strict = False,
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    rank: options.RankColumn = None,
    score: options.ScoreColumn = None,
    row_order: options.RowOrder = False,
    truth_user: options.TruthUserColumn = None,
    truth_item: options.TruthItemColumn = None,
    grade: options.GradeColumn = None,
    ids: options.Ids = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: FormatOption = "table",
) -> int:
    """Say everything that is wrong with a submission: where, how often, how to mend it."""
    config = options.config_beside(beside_file, config)
    leave_processors()
    from harness.core.io import refuse_overwriting
    from harness.experiment.terms import Terms
    from harness.experiment.validate import examine_on
    from harness.submission import problems
    from harness.submission.format import Named

    gc.freeze()  # what is imported stays: it is not searched for garbage, nor at the end
    began = time.perf_counter()
    terms = Terms.of(
        config,
        overrides=set_ or (),
        sample=sample,
        items=items,
        solution=solution,
        named=Named(
            user,
            item,
            rank,
            score,
            row_order=row_order,
            truth_user=truth_user,
            truth_item=truth_item,
            grade=grade,
        ),
        separator=separator,
        ids=ids,
    )
    if terms.fold:
        note(f"note  {terms.fold}")
    if fix is not None:
        from harness.submission.fix import LISTS, is_lists

        read = [file, config, sample, items, solution, *terms.files]
        refuse_overwriting(fix, read, is_lists, what=LISTS)
    examined = examine_on(file, terms, k, strict=strict)
    found = examined.validation
    tell(found, found.to_dict, format_, time.perf_counter() - began)
    if fix is not None:
        from harness.submission.fix import fix as mend

        fixed = mend(file, examined.against, fix)
        left = examine_on(fix, terms, k, strict=strict).validation
        if not (quiet and left.valid):  # else it says why the status is 1
            print(problems.mended(found, fixed, left), file=sys.stderr)
        return 0 if left.valid else 1
    return 0 if found.valid else 1


def tell(
    found: Validation,
    document: Callable[[], object],
    format_: Format,
    seconds: float | None = None,
    fix: str = "--fix OUT",
) -> None:
    """Print what is wrong with a submission, and what to type to mend it; `document` gives JSON."""
    from harness.submission import problems

    if format_ == "table":
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print(problems.text(found, seconds, width, fix))
    else:
        show(format_, document, found.sheets(), found.records())
