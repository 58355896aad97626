"""What a user may be told: every mistake the software can name, and the words to name it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class HarnessError(Exception):
    """A mistake that a person can mend; shown as its message alone, never as a traceback.

    Attributes
    ----------
    exit_status : int
        The exit status of the command that met it.
    """

    exit_status = 2


class UsageError(HarnessError):
    """A wrong option, configuration key, metric name, class or parameter."""


class DataError(HarnessError):
    """An input file that is missing, unreadable or holds a value that cannot be used."""


class EmptyExamError(HarnessError):
    """No user is left to examine; the message prints the funnel."""


class RecommenderError(HarnessError):
    """A recommender broke its contract; the message names it and the first bad user."""


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Return the end of an error message: the nearest valid name, or all of them.

    Examples
    --------
    >>> suggest("requirehit", ["require_hit", "users"])
    'did you mean "require_hit"?'
    >>> suggest("zzz", ["users", "truth"])
    'allowed: truth, users'
    """
    names = sorted(allowed)
    near = get_close_matches(name, names, n=1)
    if near:
        return f'did you mean "{near[0]}"?'
    return f"allowed: {', '.join(names)}" if names else "none is allowed here"
