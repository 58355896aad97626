"""What the driver and the workers of Spark send each other: values as Arrow, mistakes as text.

Nothing that comes back from a worker is unpickled. A mistake of a user travels as a row of its own:
Spark would work four times on what fails each time, and wrap what it raises.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import errors
from harness.core.arrays import Int64
from harness.core.errors import HarnessError
from harness.core.exact_sum import Exact, Largest
from harness.data import _events
from harness.data.dataset import DAY_US

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Content = Mapping[Any, Any]
"""What `pack` takes."""
Batches = Iterator["pa.RecordBatch"]
Work = Callable[[Batches], Batches]

SCHEMA = "part INT, source LONG, chunk INT, chunks INT, content BINARY, facts STRING, error STRING"
"""Of rows: a part's number, a chunk of its content, and what the driver learns of it, as JSON."""
CHUNK_BYTES = 1 << 18
"""Of a content in one row: neither Spark nor Arrow is at ease with long rows."""
_TASK_BITS = 32
_FAN_IN = 8
"""So many contents at most are combined by one worker, or by the driver."""
_OLDEST = pl.CompatLevel.oldest()
_TYPES: dict[str, pl.DataType] = {
    "part": pl.Int32(),
    "source": pl.Int64(),
    "chunk": pl.Int32(),
    "chunks": pl.Int32(),
    "content": pl.Binary(),
    "facts": pl.String(),
    "error": pl.String(),
}
_SUMS = {"exact": Exact, "largest": Largest}
_UNITS_US = np.array([DAY_US, 1_000_000, 1])


def pack(values: Content) -> bytes:
    """Return values as bytes: a stream of Arrow, each array in one row of a column of lists.

    Parameters
    ----------
    values : mapping
        Keys are whole numbers or text; values are arrays of numbers, exact and largest ones, CSR
        matrices, columns and frames of Polars, or mappings of these.

    Raises
    ------
    TypeError
        Any other key or value.

    Examples
    --------
    >>> unpack(pack({"a": np.array([1, 2]), 7: {"ids": pl.Series(["x"])}}))["a"].tolist()
    [1, 2]
    """
    arrays: list[pl.Series] = []
    layout = pl.Series("layout", [json.dumps(_describe(values, arrays))])
    lists = [array.alias(str(number)).implode() for number, array in enumerate(arrays)]
    stream = io.BytesIO()
    frame = pl.DataFrame([layout, *lists])
    frame.write_ipc_stream(stream, compat_level=_OLDEST)  # of a slice of ids, its rows alone
    return stream.getvalue()


def _describe(value: Any, arrays: list[pl.Series]) -> list[Any]:
    """Return what makes a value of arrays again; add these."""
    if isinstance(value, Mapping):
        return ["mapping", [[_key(key), _describe(v, arrays)] for key, v in value.items()]]
    if isinstance(value, pl.DataFrame):
        return ["frame", [_describe(column, arrays) for column in value.iter_columns()]]
    if isinstance(value, pl.Series):
        arrays.append(value)
        return ["series", len(arrays) - 1, value.name]
    if isinstance(value, Exact | Largest):
        return [type(value).__name__.lower(), _describe(value.values, arrays)]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays.append(pl.Series(value.reshape(-1)))
        return ["array", len(arrays) - 1, value.shape]
    if getattr(value, "format", None) == "csr":
        parts = value.data, value.indices, value.indptr
        return ["matrix", value.shape, [_describe(array, arrays) for array in parts]]
    raise TypeError(f"{type(value).__name__} cannot be packed; expected arrays of numbers")


def _key(key: Any) -> int | str:
    if isinstance(key, str):
        return key
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        return int(key)
    raise TypeError(f"the key {key!r} cannot be packed; expected a whole number or text")


def unpack(data: bytes) -> dict[Any, Any]:
    """Return what `pack` made bytes of."""
    layout, *lists = pl.read_ipc_stream(io.BytesIO(data)).iter_columns()
    values: dict[Any, Any] = _rebuilt(json.loads(layout[0]), [array[0] for array in lists])
    return values


def _rebuilt(described: list[Any], arrays: list[pl.Series]) -> Any:
    match described:
        case ["mapping", pairs]:
            return {key: _rebuilt(value, arrays) for key, value in pairs}
        case ["frame", columns]:
            return pl.DataFrame([_rebuilt(column, arrays) for column in columns])
        case ["series", number, name]:
            return arrays[number].alias(name)
        case ["array", number, shape]:
            return arrays[number].to_numpy().reshape(shape)
        case ["matrix", shape, parts]:
            from scipy.sparse import csr_array  # slow to import

            data, indices, starts = (_rebuilt(part, arrays) for part in parts)
            return csr_array((data, indices, starts), shape=tuple(shape))
        case [kind, values]:
            return _SUMS[kind](_rebuilt(values, arrays))


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return whole numbers from 0 in as few bytes as hold the largest."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def narrow_times(time: Int64) -> dict[str, npt.NDArray[Any]]:
    """Return times, of which there must be one, as numbers of days, seconds or microseconds.

    Examples
    --------
    >>> narrowed = narrow_times(np.array([172_800_000_000, 0]))
    >>> {name: numbers.tolist() for name, numbers in narrowed.items()}
    {'steps': [2, 0], 'scale': [0, 86400000000]}
    """
    low, _, unit = _events.span(time, _UNITS_US)
    step = int(_UNITS_US[unit])
    return {"steps": narrow((time - low) // step), "scale": np.array([low, step])}


def widen_times(narrowed: Mapping[str, npt.NDArray[Any]]) -> Int64:
    """Return the times that `narrow_times` took."""
    low, step = narrowed["scale"].tolist()
    time: Int64 = narrowed["steps"].astype(np.int64) * step + low
    return time


def to_rows(
    part: int,
    content: Content | None = None,
    *,
    facts: Any = None,
    source: int = 0,
    chunk_bytes: int = CHUNK_BYTES,
) -> Batches:
    """Yield the rows of a part; `source` tells contents apart that a task makes for one number."""
    from pyspark import TaskContext

    words = None if facts is None else json.dumps(facts)
    if content is None:
        yield row_of(part=part, facts=words)
        return
    task = TaskContext.get()
    source += 0 if task is None else task.partitionId() << _TASK_BITS
    data = pack(content)
    starts = range(0, len(data), chunk_bytes)
    for chunk, start in enumerate(starts):
        yield row_of(
            part=part,
            source=source,
            chunk=chunk,
            chunks=len(starts),
            content=data[start : start + chunk_bytes],
            facts=words if chunk == 0 else None,
        )


def row_of(**values: Any) -> pa.RecordBatch:
    """Return a row of `SCHEMA`."""
    frame = pl.DataFrame([values], schema=_TYPES)
    return frame.to_arrow(compat_level=_OLDEST).to_batches()[0]  # pyarrow alone takes pandas


def contents(
    batches: Iterable[pa.RecordBatch], reports: list[dict[str, Any]] | None = None
) -> Iterator[tuple[int, dict[Any, Any]]]:
    """Yield the number and the content of each part that has one.

    The chunks of a content may come in any order, and between those of others. An error is raised,
    unless `reports` takes the rows without a content.
    """
    waiting: dict[tuple[int, int], dict[int, bytes]] = {}
    for batch in batches:
        for row in pl.DataFrame(pl.from_arrow(batch)).iter_rows(named=True):
            if row["content"] is None:
                if reports is None:
                    _refuse(row["error"])
                else:
                    reports.append(row)
                continue
            key = row["part"], row["source"]
            chunks = waiting.setdefault(key, {})
            chunks[row["chunk"]] = row["content"]
            if len(chunks) == row["chunks"]:
                del waiting[key]
                yield row["part"], unpack(b"".join(chunks[chunk] for chunk in range(len(chunks))))
    if waiting:
        raise RuntimeError("Spark lost some rows of a part")


def _refuse(error: str | None) -> None:
    """Raise a mistake that was met elsewhere."""
    if error is not None:
        kind, text = json.loads(error)
        raise getattr(errors, kind, HarnessError)(text)


def facts_of(frame: DataFrame) -> list[Any]:
    """Return the facts of all parts that have some, by number; or raise the first error."""
    rows = frame.where("facts IS NOT NULL OR error IS NOT NULL").select("part", "facts", "error")
    table = pl.DataFrame(pl.from_arrow(rows.toArrow())).sort("part", maintain_order=True)
    for error in table["error"]:
        _refuse(error)
    return list(map(json.loads, table["facts"]))


def mapped(frame: DataFrame, work: Work) -> DataFrame:
    """Return the rows that workers make of each partition of a frame."""
    return frame.mapInArrow(partial(_all_taken, work), SCHEMA)


def _all_taken(work: Work, batches: Batches) -> Batches:
    yield from attempt(0, work(batches))
    for _ in batches:  # where work ended before: the JVM waits until its rows are taken
        pass


def merged(frame: DataFrame, count: int, combine: Callable[[Any, Any], Content]) -> Content:
    """Return the contents of a frame, `count` at most, combined in any order into one."""
    while count > _FAN_IN:
        count = -(-count // _FAN_IN)
        work = partial(combined, combine, lambda _, content: content)
        frame = mapped(frame.repartition(count, "part"), work)
    values = (content for _, content in contents(frame.toArrow().to_batches()))
    nothing: Content = {}
    return reduce(combine, values, next(values, nothing))


def combined(
    combine: Callable[[Any, Any], Content],
    value_of: Callable[[int, Content], Content],
    batches: Batches,
) -> Batches:
    """Yield what is made of the parts of a partition as one content."""
    total: Content | None = None
    for part, content in contents(batches):
        value = value_of(part, content)
        total = value if total is None else combine(total, value)
    if total is not None:
        yield from to_rows(part, total)


def attempt(part: int, rows: Batches) -> Batches:
    """Yield rows; a mistake of the user that is met in their making is the last one."""
    try:
        yield from rows
    except HarnessError as error:
        yield row_of(part=part, error=json.dumps([type(error).__name__, str(error)]))
