"""Machine code that is kept gives what numba gives, and a short command does without numba."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import typeof

from harness import elf, kept, native
from harness.compiled import Compiled
from harness.frames import places
from harness.submission import key_table, known, lines, survey
from harness.submission.words import PAD

NUMBERS = np.arange(12, dtype=np.int32)
BYTES = np.frombuffer(b"ann,1 2\nbob,3\n\ncem\n" + bytes(PAD), np.uint8)


@pytest.mark.parametrize(
    "argument",
    [
        *(7, -7, True, 0.5, (1, True), (NUMBERS, (NUMBERS, 2.0))),
        *(NUMBERS, NUMBERS.reshape(3, 4), NUMBERS[::2], BYTES, np.zeros((0, 2), np.uint64)),
        *(np.zeros(3, np.bool_), np.zeros(3, np.float64), np.zeros((2, 2, 2), np.int64)),
    ],
    ids=str,
)
def test_arguments_are_told_apart_as_numba_does(argument: Any) -> None:
    assert native.taken((argument,)) == native._taken_by((typeof(argument),))
    assert native.taken((argument,)) is not None


@pytest.mark.parametrize(
    "argument",
    ["text", None, [1], {}, np.zeros(2, "U3"), np.zeros(2, ">i4"), 1 << 63, np.float32(1)],
    ids=str,
)
def test_others_go_the_usual_way(argument: Any) -> None:
    assert native.taken((argument,)) is None
    assert native.taken(((argument,), 1)) is None


def calls() -> dict[str, tuple[Any, Callable[[], tuple[Any, ...]]]]:
    """Return compiled functions, and what makes arguments for them anew."""
    starts, stops = np.array([0, 8]), np.array([3, 11])
    keys = np.arange(20, dtype=np.uint64).reshape(10, 2) * np.uint64(0x9E3779B97F4A7C15)
    return {
        "a number": (lines._count, lambda: (BYTES.copy(), len(BYTES) - PAD, 10)),
        "several": (survey._count, lambda: (BYTES.copy(), len(BYTES) - PAD)),
        "a truth and a number": (
            known._keys,
            lambda: (BYTES.copy(), starts, stops, np.zeros((2, 2), np.uint64), -1),
        ),
        "nothing": (
            known._look_up,
            lambda: (BYTES, starts, stops, np.zeros((8, 2), np.uint64), np.zeros(2, np.int32)),
        ),
        "what is changed": (
            key_table._codes,
            lambda: (keys, 0, np.zeros((32, 2), np.uint64), 0, 20, np.zeros(10, np.int32)),
        ),
    }


@pytest.mark.parametrize("case", calls())
def test_kept_code_does_what_numba_does(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "_place", lambda: tmp_path / "native")
    function, make = calls()[case]
    ours, theirs = make(), make()
    answer = function.dispatcher(*theirs)
    for signature in function.dispatcher.nopython_signatures:
        native.keep("name", function.dispatcher, signature)
    code = native.load("name", native.taken(ours) or "")
    assert code is not None
    assert code(*ours) == answer
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one, other)


def test_what_returns_arrays_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_place", lambda: tmp_path / "native")
    doubled = Compiled(lambda numbers: numbers * 2)
    assert doubled(NUMBERS).tolist() == (NUMBERS * 2).tolist()
    assert not (tmp_path / "native").exists()


@pytest.mark.parametrize("damage", ["code", "notes", "gone"])
def test_damaged_code_is_not_run(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "_place", lambda: tmp_path / "native")
    lines._count(BYTES.copy(), 3, 10)
    for signature in lines._count.dispatcher.nopython_signatures:  # type: ignore[attr-defined]
        native.keep("name", lines._count.dispatcher, signature)  # type: ignore[attr-defined]
    taken = native.taken((BYTES.copy(), 3, 10)) or ""
    assert native.load("name", taken) is not None
    entry = native._entry("name", taken).path
    if damage == "code":
        content = (entry / "code.o").read_bytes()
        (entry / "code.o").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif damage == "notes":
        (entry / "meta.json").write_text("{}")
    else:
        (entry / "code.o").unlink()
    assert native.load("name", taken) is None


def test_other_versions_are_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_place", lambda: tmp_path / "native")
    one = native._entry("name", "i").path
    monkeypatch.setattr(native, "_processor", lambda: "another")
    assert native._entry("name", "i").path != one
    version = tmp_path / "version.py"
    version.write_text("1")
    monkeypatch.setattr(native, "_compilers", lambda: (version,))
    before = native._entry("name", "i")
    version.write_text("22")
    assert isinstance(before, kept.Entry)
    assert native._entry("name", "i").files != before.files


SHORT = """
import sys
from harness.cli import app, guarded
status = guarded(lambda: app(sys.argv[1:], standalone_mode=False))
print(status, "numba" in sys.modules, file=sys.stderr)
"""


def test_a_short_command_does_without_numba(tmp_path: Path) -> None:
    (tmp_path / "sample.csv").write_text("user,items\nann,\nbob,\n")
    (tmp_path / "solution.csv").write_text("user,items\nann,a\nbob,b\n")
    (tmp_path / "lists.csv").write_text("user,items\nann,a b\nbob,a b\n")
    line = [sys.executable, "-c", SHORT, "score", "lists.csv", "--sample", "sample.csv"]
    for _ in range(2):  # the first keeps what is not kept yet
        done = subprocess.run(
            [*line, "--solution", "solution.csv"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
    assert done.stderr.split() == ["0", "False"]
    assert "MAP@12" in done.stdout


def test_code_that_calls_what_nobody_has_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reshaping calls a function of numba's, which a process without numba does not have."""
    monkeypatch.setattr(native, "_place", lambda: tmp_path / "native")
    arguments = NUMBERS[:1].copy(), NUMBERS[:1].copy(), np.array([1]), np.full((4, 1), -1, np.int32)
    places.by_rank(*arguments)
    for signature in places.by_rank.dispatcher.nopython_signatures:  # type: ignore[attr-defined]
        native.keep("name", places.by_rank.dispatcher, signature)  # type: ignore[attr-defined]
    code = (native._entry("name", native.taken(arguments) or "").path / "code.o").read_bytes()
    assert "numba_attempt_nocopy_reshape" in elf.undefined(code)
    taken = native.taken(arguments)
    script = "from pathlib import Path\nfrom harness import native\n"
    script += f"native._place = lambda: Path({str(tmp_path / 'native')!r})\n"
    script += f"assert native.load('name', {taken!r}) is None\n"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    "content", [b"", b"MZ", b"\x7fELF\x02\x01" + bytes(80), b"\x7fELF\x02\x01"]
)
def test_what_is_no_object_file(content: bytes) -> None:
    with pytest.raises(ValueError, match="object file") if len(content) != 86 else nullcontext():
        assert elf.undefined(content) == []


PLUG_IN = """
import sys
import numpy as np
from harness.compiled import compiled

@compiled
def answer(values):
    return values[0] + {added}

print(answer(np.arange(3)), "numba" in sys.modules)
"""


def test_changed_source_of_a_plug_in_is_other_code(tmp_path: Path) -> None:
    """Compiled in the first process; kept for the second; anew in the third."""
    printed = []
    for added in (1, 1, 2):
        text = PLUG_IN.format(added=added)
        plug_in = tmp_path / "plug_in.py"
        if not plug_in.is_file() or plug_in.read_text() != text:
            plug_in.write_text(text)
        done = subprocess.run(
            [sys.executable, "-c", "import plug_in"], cwd=tmp_path, text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        printed.append(done.stdout.split())
    assert printed == [["1", "True"], ["1", "False"], ["2", "True"]]
