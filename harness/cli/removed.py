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
_WHOLE = (
    "leave it out: where events are in buckets, a model that learns from all of them at once is "
    "refused; allow more (--memory), name the other models (--model), or use one that learns by "
    "sums"
)
_INSTEAD = {
    "validate": dict.fromkeys(("--engine", "--master", "--remote", "--buckets"), _ONE_MACHINE),
    "score": dict.fromkeys(("--engine", "--master", "--remote", "--buckets"), _ONE_MACHINE),
    "compare": dict.fromkeys(("--engine", "--master", "--remote", "--buckets"), _RUN_FOLDERS),
    "run": {"--whole": _WHOLE},
}


def say_removed(error: BaseException) -> None:
    """Say what to use in place of a removed option, where the option parser knows it no more."""
    context, option = getattr(error, "ctx", None), getattr(error, "option_name", "")
    hint = _INSTEAD.get(context.command.name, {}).get(option) if context else None
    if hint is not None:
        error.message, error.possibilities = f"{option} was removed; {hint}", []  # type: ignore[attr-defined]
