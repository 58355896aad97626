"""What the fuzz tests share: how many files each reads, how these are changed, and a command."""

import io
import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from harness.cli import app, guarded

FILES = int(os.environ.get("FUZZ_FILES", "200000"))
"""How many files all tests together read."""
SEED = int(os.environ.get("FUZZ_SEED", "0"))
BATCH = 500
SECONDS = 2.0
"""Of computing: a machine that does other things as well does not count."""
TOKENS = [
    *(b",", b"\n", b'"', b" ", b"\r", b"\t", b";", b"[", b"'", b"\0", b"\xff", b"\xef\xbb\xbf"),
    *(b"nan", b"7E+08", b"ann", b"zoe", b"\r\n", b"-1", b"99999999999999999999", b"1e999"),
    *(b"\x1a", b"\x1b[2J", b"\x1e", b"\x1f", b"\xc2\xa0", b"PK\x03\x04", b"\x1f\x8b", b"PAR1"),
]


def batches(percent: int) -> list[tuple[int, int]]:
    """Return number and size of the batches of a test that reads this share of all files.

    A command takes ten times as long as a call, so that few files go through commands.
    """
    files = max(FILES * percent // 100, 1)
    return [(n, min(BATCH, files - n * BATCH)) for n in range(-(-files // BATCH))]


def chances(test: str, batch: int) -> random.Random:
    return random.Random(f"{test} {SEED} {batch}")  # noqa: S311 - nothing secret


def mutated(original: bytes, chance: random.Random, tokens: Sequence[bytes] = TOKENS) -> bytes:
    content = bytearray(original)
    for _ in range(chance.randint(1, 6)):
        start, other = (chance.randint(0, len(content)) for _ in range(2))
        low, high = min(start, other), max(start, other)
        match chance.choice(["flip", "cut", "double", "insert", "drop", "swap"]):
            case "flip" if content:
                content[start - 1] ^= 1 << chance.randint(0, 7)
            case "cut":
                content = content[:start]
            case "double":
                content[start:start] = content[low:high]
            case "insert":
                content[start:start] = chance.choice(tokens)
            case "drop":
                del content[low : min(high, low + 12)]
            case "swap":
                content = swapped(content, chance)
    return bytes(content)


def swapped(content: bytearray, chance: random.Random) -> bytearray:
    parts = re.split(rb"([ ,\n])", bytes(content))
    first, other = (chance.randrange(len(parts)) for _ in range(2))
    parts[first], parts[other] = parts[other], parts[first]
    return bytearray(b"".join(parts))


@contextmanager
def shown(*what: object) -> Iterator[None]:
    """Print what a test works on where it fails."""
    try:
        yield
    except BaseException:
        print(what)
        raise


def command(line: Sequence[str | Path], seconds: float = SECONDS) -> tuple[int, str]:
    """Run a command; return its exit status and all that it prints.

    It ends in figures or in a message, in time, and prints nothing that steers a terminal.
    """
    output = io.StringIO()
    began = time.process_time()
    with redirect_stdout(output), redirect_stderr(output):
        status = guarded(lambda: app([str(part) for part in line], standalone_mode=False))
    assert time.process_time() - began < seconds
    text = output.getvalue()
    odd = {c for c in text if not c.isprintable() and c != "\n"}
    assert not odd, f"{odd!r} is printed"
    assert status in (0, 1, 2), text
    assert text, "nothing is said"
    return status, text
