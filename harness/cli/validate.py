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

from harness.cli import options
from harness.cli.output import Format, note, show_parts
from harness.scoring.options import SubmissionOptions

if TYPE_CHECKING:
    from harness.submission.problems import Validation


def leave_processors() -> None:
    """Keep NumPy's algebra, which is not used here, from threads that wait by spinning."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@options.of_submissions(without=("keep_users_without_items",))
def validate(
    file: options.Lists,
    k: Annotated[
        int | None,
        "The most items that a list may have. Default: that of the config or the competition, else "
        "any number.",
    ] = None,
    fix: Annotated[Path | None, "Write the fixed file to OUT.", "OUT"] = None,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: options.Output = "table",
    *,
    submission: SubmissionOptions,
) -> int:
    """Check a submission: show each fault, its lines, and how to fix it.

    It finds all faults in one pass. The exit status is 1 if there are errors.
    """
    leave_processors()
    from harness.core.io import refuse_overwriting
    from harness.scoring.terms import Terms, which_fold
    from harness.scoring.validate import examine_on
    from harness.submission.fix import LISTS, is_lists, report
    from harness.submission.fix import fix as mend

    gc.freeze()  # what is imported stays: it is not searched for garbage, nor at the end
    began = time.perf_counter()
    terms = Terms(submission)
    if terms.folds > 1:
        note(f"note  {which_fold(terms.folds, terms.folds)}")
    if fix is not None:
        refuse_overwriting(fix, [file, *terms.files], is_lists, what=LISTS)
    examined = examine_on(file, terms, k, strict=strict)
    validation = examined.validation
    tell(validation, validation.to_dict, format_, time.perf_counter() - began)
    if fix is None:
        return 0 if validation.valid else 1
    fixed = mend(file, examined.against, fix, examined=examined)
    after = examine_on(fix, terms, k, strict=strict).validation
    if not (quiet and after.valid):  # else it says why the status is 1
        print(report(validation, fixed, after), file=sys.stderr)
    return 0 if after.valid else 1


def tell(
    validation: Validation,
    document: Callable[[], object],
    format_: Format,
    seconds: float | None = None,
    command: str = "",
) -> None:
    """Print what is wrong with a submission, and what to type to mend it; `document` gives JSON."""
    from harness.submission import problems

    if format_ == "table":
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        print(problems.text(validation, seconds, width, command))
    else:
        show_parts(format_, document, validation.sheets(), validation.records())
