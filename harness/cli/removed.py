"""Options that commands had once, and what to do instead."""

from __future__ import annotations

_ONE_MACHINE = (
    "leave it out: one machine reads 1.4 million rows in two seconds. Write lists that Spark holds "
    "to one file first, or score them in Python: "
    "harness.spark.evaluate(predictions, truth, metrics)"
)
_RUN_FOLDERS = (
    "leave it out: run folders that Spark wrote are read as any other. If the tables are "
    "elsewhere, copy them into the run folder first"
)
_SPARK = ("--engine", "--master", "--remote", "--buckets")
_INSTEAD = {
    **{("validate", option): _ONE_MACHINE for option in _SPARK},
    **{("score", option): _ONE_MACHINE for option in _SPARK},
    **{("compare", option): _RUN_FOLDERS for option in _SPARK},
    (
        "run",
        "--whole",
    ): "leave it out: where events are in buckets, a model that learns from all of "
    "them at once is refused; allow more (--memory), name the other models (--model), or use one "
    "that learns by sums",
}


def say_removed(error: BaseException) -> None:
    """Say what to use in place of a removed option, where the option parser knows it no more."""
    context, option = getattr(error, "ctx", None), getattr(error, "option_name", "")
    hint = None if context is None else _INSTEAD.get((context.command.name, option))
    if hint is not None:
        error.message, error.possibilities = f"{option} was removed; {hint}", []  # type: ignore[attr-defined]
