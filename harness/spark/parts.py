"""Parts of something large in a Spark DataFrame: summed, worked on and written by its workers.

A part has a number, a content (`harness.spark.packing`), in rows of a few megabytes each, and what
is told of it to the driver: facts, or the error that stopped the work on it. An error travels as
data: Spark would work four times on what fails each time, and wrap what it raises.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlparse
from urllib.request import url2pathname

import polars as pl

from harness.core.errors import HarnessError
from harness.core.exact_sum import Sums, add
from harness.core.io import whole_file
from harness.spark.packing import PackedError, packed, unpacked

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Part = TypeVar("Part")
Other = TypeVar("Other")
Content = Mapping[Any, Any]
"""What `packed` takes."""
Batches = Iterator["pa.RecordBatch"]
Gathered = tuple[int, list[Content]]

_FAN_IN = 8
"""So many contents at most are merged by one worker, or by the driver."""
_CHUNK = 1 << 18
_SOURCES = 32
"""Bits of what tells contents apart within a task."""
_ROWS = 1 << 16
"""Of a batch that is written."""
_ERROR, _FACTS, _CONTENT = "error", "facts", "content"
_OWN = "harness."


class WorkerError(RuntimeError):
    """What a worker raised that is no mistake of a user."""


@dataclass(frozen=True, eq=False)
class Parts(Generic[Part]):
    """Parts that are kept by Spark, in memory and on disk.

    Attributes
    ----------
    frame : DataFrame
        Of `SCHEMA`.
    opened : callable
        Takes a part's number and content, and returns what the work is done on; it travels to the
        workers, as all functions do that are given to the methods.
    facts : mapping of int to dict
        What is told of each part.

    Examples
    --------
    >>> def squares(part):  # doctest: +SKIP
    ...     return {"squares": np.array([part["n"] ** 2])}
    >>> parts.total(squares)["squares"].tolist()  # doctest: +SKIP
    [14]
    """

    frame: DataFrame
    opened: Callable[[int, Content], Part]
    facts: Mapping[int, Any]

    def total(self, step: Callable[[Part], Sums]) -> Sums:
        """Return the sum of what `step` returns of every part.

        Raises
        ------
        HarnessError
            As a worker raised it.
        WorkerError
            For anything else that it raised.
        """
        work = partial(_summed, self.opened, step)
        sums = self.frame.mapInArrow(work, SCHEMA)
        return merged(sums, len(self.facts), add)

    def kept(
        self, make: Callable[[Part], Content], opened: Callable[[int, Content], Other]
    ) -> Parts[Other]:
        """Return new parts of what `make` returns of each; errors are those of `total`."""
        return kept(self.frame.mapInArrow(partial(_made, self.opened, make), SCHEMA), opened)

    def write(
        self, path: str, types: Mapping[str, str], frame_of: Callable[[Part], pl.DataFrame]
    ) -> None:
        """Write the rows that `frame_of` returns of every part, as a folder of Parquet files.

        Parameters
        ----------
        types : mapping of column to Spark's type
            Such as ``{"user": "string", "items": "array<string>"}``.

        Notes
        -----
        What is retried writes the same file anew, whole or not at all; elsewhere than in files that
        workers see Spark writes, whose committer lets each task write once.
        """
        if path.startswith("file:"):
            folder = Path(url2pathname(urlparse(path).path))
            work = partial(_files, self.opened, frame_of, tuple(types), folder)
            merged(self.frame.mapInArrow(work, SCHEMA), len(self.facts), add)
            return
        schema = ", ".join(f"`{name}` {kind}" for name, kind in types.items())
        rows = partial(_rows, self.opened, frame_of, types)
        self.frame.mapInArrow(rows, schema).write.parquet(path)

    def release(self) -> None:
        """Let Spark forget the parts."""
        self.frame.unpersist()


def kept(frame: DataFrame, opened: Callable[[int, Content], Part]) -> Parts[Part]:
    """Return parts of a frame of `SCHEMA`, which is worked out, once, and kept."""
    frame = frame.persist()
    try:
        found = frame.where("at = 0").select("part", "told").toArrow()
        told = sorted(pairs(found), key=lambda pair: pair[0])
        refuse_first(words for _, words in told)
    except BaseException:
        frame.unpersist()
        raise
    return Parts(frame, opened, {part: facts_of(words) for part, words in told})


def pairs(found: pa.Table) -> Iterator[tuple[Any, Any]]:
    """Return the rows of two columns."""
    return zip(*(column.to_pylist() for column in found.columns), strict=True)


def merged(frame: DataFrame, count: int, combine: Callable[[Any, Any], Content]) -> Content:
    """Return the contents of a frame of `SCHEMA` combined, in turn and in any order, into one.

    Parameters
    ----------
    count : int
        How many there are at most.
    """
    while count > _FAN_IN:
        count = -(-count // _FAN_IN)
        frame = frame.repartition(count, "part").mapInArrow(partial(_combined, combine), SCHEMA)
    found = list(contents(frame.toArrow().to_batches()))
    refuse_first(told for _, _, told in found)
    nothing: Content = {}
    return reduce(combine, (unpacked(data) for _, data, _ in found), nothing)


def rows(
    part: int,
    content: Content | None,
    facts: Any = None,
    source: int = 0,
    chunk_bytes: int = _CHUNK,
) -> Batches:
    """Yield the rows of a content: chunks, as neither Spark nor Arrow is at ease with long rows.

    Parameters
    ----------
    source : int
        Tells contents apart that a task makes for one number.
    chunk_bytes : int
        The most that a row holds of a content.
    """
    from pyspark import TaskContext

    task = TaskContext.get()
    source += 0 if task is None else task.partitionId() << _SOURCES
    told = None if facts is None else json.dumps({_FACTS: facts})
    data = None if content is None else packed(content)
    if data is None:
        yield _row(part, source, 0, 1, None, told)
        return
    count = -(-len(data) // chunk_bytes)
    for at in range(count):
        chunk = memoryview(data)[at * chunk_bytes : (at + 1) * chunk_bytes]
        yield _row(part, source, at, count, chunk, told if at == 0 else None)


def told_row(part: int, told: str | None) -> pa.RecordBatch:
    """Return a row of what is told alone."""
    return _row(part, 0, 0, 1, None, told)


def _row(
    part: int, source: int, at: int, count: int, chunk: memoryview | None, told: str | None
) -> pa.RecordBatch:
    import pyarrow as pa

    kinds = pa.int32(), pa.int64(), pa.int32(), pa.int32(), pa.binary(), pa.string()
    values = part, source, at, count, chunk, told
    columns = [pa.array([value], kind) for value, kind in zip(values, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(columns, _COLUMNS)


_COLUMNS = ["part", "source", "at", "count", "content", "told"]
SCHEMA = "part INT, source LONG, at INT, count INT, content BINARY, told STRING"


def contents(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Any, str | None]]:
    """Yield the number of each content, its bytes (None without) and what is told of it.

    The chunks of one may come in any order, and between those of others.
    """
    waiting: dict[tuple[int, int], dict[int, Any]] = {}
    words: dict[tuple[int, int], str] = {}
    for batch in batches:
        for *numbers, chunk, told in zip(*(batch[name] for name in _COLUMNS), strict=True):
            part, source, at, count = (number.as_py() for number in numbers)
            if not chunk.is_valid:
                yield part, None, told.as_py()
                continue
            chunks = waiting.setdefault((part, source), {})
            chunks[at] = chunk.as_buffer()
            if told.is_valid:
                words[part, source] = told.as_py()
            if len(chunks) == count:
                del waiting[part, source]
                content = chunks[0] if count == 1 else b"".join(chunks[n] for n in range(count))
                yield part, content, words.pop((part, source), None)
    if waiting:
        raise PackedError("parts are cut short: some of their rows are missing")


def gathered(batches: Iterable[pa.RecordBatch], keys: Sequence[int]) -> Iterator[Gathered]:
    """Yield the place of each key among all, ascending, and the contents that have the key."""
    number = {key: at for at, key in enumerate(keys)}
    found: dict[int, list[Content]] = {}
    for key, content, _ in contents(batches):
        found.setdefault(number[key], []).append(unpacked(content))
    for at in sorted(found):
        yield at, found.pop(at)


def attempted(part: int, work: Callable[[], Iterable[pa.RecordBatch]]) -> Batches:
    """Yield the rows of some work; what it raises is told in a row of its own.

    What the machine may be the reason of is raised: Spark tries again elsewhere.
    """
    try:
        yield from work()
    except (OSError, MemoryError):
        raise
    except Exception as error:
        yield told_row(part, _in_words(error))


def _in_words(error: Exception) -> str:
    kind = type(error)
    own = isinstance(error, HarnessError) and kind.__module__.startswith(_OWN)
    name = [kind.__module__, kind.__qualname__] if own else None
    text = str(error)
    if not isinstance(error, HarnessError):
        last = text.strip().splitlines()[-1:]
        text = f"a worker raised {': '.join([kind.__name__, *last])}"
    return json.dumps({_ERROR: [name, text, isinstance(error, HarnessError)]})


def facts_of(told: str | None) -> Any:
    """Return the facts that are told of a part."""
    return None if told is None else json.loads(told).get(_FACTS)


def error_of(told: str | None) -> Exception | None:
    """Return the error that is told of a part, as it was raised there."""
    words = None if told is None else json.loads(told).get(_ERROR)
    if words is None:
        return None
    name, text, ours = words
    if not ours:
        return WorkerError(text)
    kind: Any = HarnessError
    with suppress(ImportError, AttributeError):
        kind = HarnessError if name is None else getattr(import_module(name[0]), name[1])
    if not (isinstance(kind, type) and issubclass(kind, HarnessError)):
        kind = HarnessError
    error: HarnessError = kind.__new__(kind)  # what it is made of is not known here, but its text
    error.args = (text,)
    return error


def refuse_first(told: Iterable[str | None]) -> None:
    """Raise the first error that is told of."""
    for error in map(error_of, told):
        if error is not None:
            raise error


def _summed(
    opened: Callable[[int, Content], Part], step: Callable[[Part], Sums], batches: Batches
) -> Batches:
    """Yield the sum over the parts of a task."""

    def work() -> Batches:
        found: Sums = {}
        first: int | None = None
        for part, content, _ in contents(batches):
            found = add(found, step(opened(part, unpacked(content))))
            first = part if first is None else first
        if first is not None:
            yield from rows(first, found)

    yield from attempted(0, work)
    yield from _nothing_of(batches)


def _combined(combine: Callable[[Any, Any], Content], batches: Batches) -> Batches:
    """Yield the contents of a task as one, and what is told of errors as it is."""

    def work() -> Batches:
        found: Content = {}
        first: int | None = None
        for part, content, told in contents(batches):
            if content is None:
                yield told_row(part, told)
            else:
                found = combine(found, unpacked(content))
                first = part if first is None else first
        if first is not None:
            yield from rows(first, found)

    yield from attempted(0, work)
    yield from _nothing_of(batches)


def _nothing_of(batches: Batches) -> Batches:
    """Yield nothing, when what is left has been taken: whoever sends it waits for that."""
    for _ in batches:
        pass
    yield from ()


def _made(
    opened: Callable[[int, Content], Part], make: Callable[[Part], Content], batches: Batches
) -> Batches:
    def work(part: int, content: Any) -> Batches:
        yield from rows(part, make(opened(part, unpacked(content))))

    for part, content, _ in contents(batches):
        yield from attempted(part, partial(work, part, content))


def _files(
    opened: Callable[[int, Content], Part],
    frame_of: Callable[[Part], pl.DataFrame],
    names: Sequence[str],
    folder: Path,
    batches: Batches,
) -> Batches:
    """Write a file of each part; yield what went wrong."""

    def work(part: int, content: Any) -> Batches:
        frame = frame_of(opened(part, unpacked(content))).select(names)
        with whole_file(folder / f"part-{part:05d}.parquet") as target:
            frame.write_parquet(target)
        yield from ()

    for part, content, _ in contents(batches):
        yield from attempted(part, partial(work, part, content))


def _rows(
    opened: Callable[[int, Content], Part],
    frame_of: Callable[[Part], pl.DataFrame],
    types: Mapping[str, str],
    batches: Batches,
) -> Batches:
    """Yield the rows that parts are written as."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "array<string>": pa.list_(pa.string()),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in types.items()])
    for part, content, _ in contents(batches):
        frame = frame_of(opened(part, unpacked(content))).select(*types)
        for rows in frame.iter_slices(_ROWS):
            yield from rows.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(schema).to_batches()
