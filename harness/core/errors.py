"""What a user may be told: every mistake the software can name, and the words to name it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, time
from difflib import get_close_matches

INTERRUPTED = 130
"""The exit status of a command that Ctrl-C ends, as shells have it."""


class HarnessError(Exception):
    """A mistake that you can fix. The command shows its message, never a traceback."""

    exit_status = 2
    """The exit status of the command."""


class UsageError(HarnessError):
    """A wrong option, configuration key, metric name, class or parameter."""


class DataError(HarnessError):
    """An input file that is missing, unreadable or holds a value that cannot be used."""


class EmptyEvaluationSetError(HarnessError):
    """No user is left to examine; the message prints the funnel."""


class NotCompiledError(HarnessError, ImportError):
    """The package is not compiled; the message says which commands do it."""


class RecommenderError(HarnessError):
    """A recommender broke its contract; the message names it and the first bad user."""


_SHOWN = 20
"""How many valid names a message lists; there may be thousands of users."""


def suggest(name: str, allowed: Iterable[str]) -> str:
    """Return the end of an error message: the nearest valid name, or the first of them all.

    >>> suggest("requirehit", ["require_hit", "users"])
    'did you mean "require_hit"?'
    >>> suggest("zzz", ["users", "truth"])
    'allowed: users, truth'
    """
    spelled = {name.lower(): name for name in allowed}
    near = get_close_matches(name.lower(), spelled, n=1)
    if near:
        return f'did you mean "{spelled[near[0]]}"?'
    if not spelled:
        return "none is allowed here"
    return f"allowed: {listed([*spelled.values()], _SHOWN)}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, and with other words of its number.

    >>> counted(2000, "user"), counted(1, "item is", "items are")
    ('2,000 users', '1 item is')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def quoted(name: str) -> str:
    """Return a name as it stands in a list of names: in quotes where a comma does not end it.

    >>> quoted("popular"), quoted("popular, weekly")
    ('popular', '"popular, weekly"')
    """
    return f'"{name}"' if "," in name else name


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names in a line; of more than `most` the first.

    >>> listed(["ALS", "popular, weekly", "random"], 2)
    'ALS, "popular, weekly" and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(quoted, names[:most])) + more


def row_text(row: int) -> str:
    """Return how a message names a row, counted as frames count."""
    return f"row {row:,} (the first is 0)"


def in_toml(value: object) -> str:
    """Return a value as a message shows it, as it would stand in a config.

    >>> from datetime import date
    >>> in_toml(True), in_toml("a"), in_toml(1.5), in_toml(date(2020, 1, 2))
    ('true', "'a'", '1.5', '2020-01-02')
    >>> in_toml([False, {"min": 1, "max": 5}])
    '[false, { min = 1, max = 5 }]'
    """
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(in_toml, value))}]"
    if isinstance(value, dict) and value:
        pairs = (f"{name} = {in_toml(element)}" for name, element in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, date | time) else repr(value)


def printable(text: str, keep: str = "") -> str:
    r"""Return text without what steers a terminal or breaks a line, but for the letters `keep`.

    Names and values come from files and configs, and end up on a screen.

    >>> printable("a\x1b[2Jb")
    'a�[2Jb'
    """
    return "".join(c if c.isprintable() or c in keep else "\N{REPLACEMENT CHARACTER}" for c in text)


BLANK = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef"
)
"""Ranges of characters that nobody can see, beside those that `str.isprintable` refuses."""


def visible(text: str) -> str:
    r"""Return text in which all that cannot be seen, but for plain spaces, is written as its code.

    So are accents that stand apart from their letters: what looks the same is written otherwise.

    >>> print(visible("u1\u200b"), visible("caf\u00e9"), visible("cafe\u0301"))
    u1\u200b café cafe\u0301
    """
    apart = unicodedata.normalize("NFC", text) != text
    return "".join(
        f"\\u{ord(letter):04x}"
        if not letter.isprintable()
        or re.match(f"[{BLANK}]", letter)
        or (apart and unicodedata.combining(letter))
        else letter
        for letter in text
    )
