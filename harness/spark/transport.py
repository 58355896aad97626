"""What the driver and the workers of Spark send each other: values as Arrow, mistakes as text.

Nothing is unpickled. A mistake is a row: Spark would retry an exception, and wrap it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core import errors
from harness.core.errors import HarnessError
from harness.core.exact_sum import Distinct, Exact, Largest, Sums, add

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Content = Mapping[Any, Any]
"""What `pack` takes, by whole numbers or text: `Sums`, columns and frames of Polars, or more."""
Batches = Iterator["pa.RecordBatch"]
Work = Callable[[Batches], Batches]

SCHEMA = "part INT, source LONG, chunk INT, chunks INT, content BINARY, facts STRING, error STRING"
"""Of rows: a part's number, a chunk of one of its contents, which `source` tells apart, and what
the driver learns of it, as JSON."""
CHUNK_BYTES = 1 << 18  # of a content in one row: neither Spark nor Arrow is at ease with long rows
_FAN_IN = 8  # so many sums at most are added up by one worker, or by the driver
_SUMS = {"exact": Exact, "largest": Largest, "distinct": Distinct}


def pack(values: Content) -> memoryview:
    """Return values as compressed Arrow: each array is a column with one row, a list."""
    import pyarrow as pa

    arrays: list[pa.Array] = []
    layout = json.dumps(_described(values, arrays))
    lists = [pa.LargeListArray.from_arrays([0, len(array)], array) for array in arrays]
    names = [str(number) for number in range(len(lists))]
    batch = pa.RecordBatch.from_arrays(lists, names, metadata={"layout": layout})
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    return memoryview(sink.getvalue())


def _described(value: Any, arrays: list[pa.Array]) -> list[Any]:
    """Return what makes a value of arrays again; add these."""
    import pyarrow as pa

    match value:
        case Mapping():
            keys = [key if isinstance(key, str) else index(key) for key in value]
            return ["mapping", [[key, _described(value[key], arrays)] for key in keys]]
        case pl.DataFrame():
            return ["frame", [_described(column, arrays) for column in value.iter_columns()]]
        case int() | list():
            return ["plain", value]
        case Exact():
            return ["exact", ["plain", value.units]]
        case Largest() | Distinct():
            return [type(value).__name__.lower(), _described(value.values, arrays)]
        case pl.Series():  # Polars hands over no name with a NUL
            arrays.append(value.alias("").to_arrow(compat_level=pl.CompatLevel.oldest()))
            return ["series", len(arrays) - 1, value.name]
        case np.ndarray() if value.dtype.kind in "biuf":
            arrays.append(pa.array(value.reshape(-1)))
            return ["array", len(arrays) - 1, value.shape]
    if getattr(value, "format", None) == "csr":
        parts = value.data, value.indices, value.indptr
        return ["matrix", value.shape, [_described(array, arrays) for array in parts]]
    raise TypeError(f"{type(value).__name__} cannot be packed; expected arrays of numbers")


def unpack(data: Any) -> dict[Any, Any]:
    """Return what `pack` made a buffer of; arrays are read-only."""
    import pyarrow as pa

    batch = pa.ipc.open_stream(data).read_next_batch()
    layout = json.loads(batch.schema.metadata[b"layout"])
    values: dict[Any, Any] = _rebuilt(layout, [column.values for column in batch.columns])
    return values


def _rebuilt(described: list[Any], arrays: list[pa.Array]) -> Any:
    match described:
        case ["mapping", pairs]:
            return {key: _rebuilt(value, arrays) for key, value in pairs}
        case ["plain", value]:
            return value
        case ["frame", columns]:
            return pl.DataFrame([_rebuilt(column, arrays) for column in columns])
        case ["series", number, name]:
            return pl.Series(name, arrays[number])
        case ["array", number, shape]:
            return arrays[number].to_numpy(zero_copy_only=False).reshape(shape)
        case ["matrix", shape, parts]:
            from scipy.sparse import csr_array  # slow to import

            data, indices, starts = (_rebuilt(part, arrays) for part in parts)
            return csr_array((data, indices, starts), shape=tuple(shape))
        case [kind, values]:
            return _SUMS[kind](_rebuilt(values, arrays))


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return whole numbers from 0 in as few bytes as hold the largest."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))), copy=False)


def to_rows(
    part: int,
    content: Content | None = None,
    *,
    facts: Any = None,
    error: HarnessError | None = None,
    source: int = 0,
    chunk_bytes: int = CHUNK_BYTES,
) -> Batches:
    """Yield the rows of a part; `source` tells contents apart that tasks make for one number.

    A task that Spark runs again gives equal rows, so nothing in them is drawn.
    """
    import pyarrow as pa

    data = None if content is None else pack(content)
    starts = range(0, 1 if data is None else len(data), chunk_bytes)
    schema = pa.schema(
        {"part": pa.int32(), "source": pa.int64(), "chunk": pa.int32(), "chunks": pa.int32()}
        | {"content": pa.binary(), "facts": pa.string(), "error": pa.string()}
    )
    for chunk, start in enumerate(starts):
        row = {
            "part": part,
            "source": (partition() << 42) + source,
            "chunk": chunk,
            "chunks": len(starts),
            "content": data and data[start : start + chunk_bytes],
            "facts": None if facts is None or chunk > 0 else json.dumps(facts),
            "error": None if error is None else json.dumps([type(error).__name__, str(error)]),
        }
        yield pa.RecordBatch.from_pylist([row], schema)


def partition() -> int:
    """Return the number of the partition that this task works on."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


def contents(
    batches: Iterable[pa.RecordBatch], reports: list[pa.RecordBatch] | None = None
) -> Iterator[tuple[int, dict[Any, Any]]]:
    """Yield the number and the content of each part; chunks may come in any order.

    An error is raised, unless `reports` takes the rows without a content.
    """
    waiting: dict[tuple[int, int], dict[int, bytes]] = {}
    for batch in batches:
        for number, row in enumerate(batch.to_pylist()):
            if row["content"] is None:
                if reports is None:
                    _refuse(row["error"])
                else:
                    reports.append(batch.slice(number, 1))
                continue
            chunks = waiting.setdefault((row["part"], row["source"]), {})
            chunks[row["chunk"]] = row["content"]
            if len(chunks) == row["chunks"]:
                del waiting[row["part"], row["source"]]
                yield row["part"], unpack(b"".join(chunks[chunk] for chunk in sorted(chunks)))
    if waiting:
        raise RuntimeError("Spark lost some rows of a part")


def _refuse(error: str | None) -> None:
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


def mapped(frame: DataFrame, work: Work, number: int = 0) -> DataFrame:
    """Return the rows that workers make of each partition; mistakes have the number of a part."""

    def taking_all(batches: Batches) -> Batches:
        yield from attempt(number, work(batches))
        for _ in batches:  # where work ended before: the JVM waits until its rows are taken
            pass

    return frame.mapInArrow(taking_all, SCHEMA)


def total(frame: DataFrame, work: Callable[[Batches], Iterable[Sums]], count: int) -> Content:
    """Return the sum of what workers make of all partitions, `count` of them at most."""
    nothing: Sums = {}

    def added_up(batches: Batches) -> Batches:
        if sums := reduce(add, work(batches), nothing):
            yield from to_rows(partition(), sums)

    rows = mapped(frame, added_up)
    if count <= _FAN_IN:
        return reduce(add, unnumbered(rows.toArrow().to_batches()), nothing)
    fewer = -(-count // _FAN_IN)
    return total(rows.repartition(fewer, "part"), unnumbered, fewer)


def unnumbered(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[Any, Any]]:
    """Yield contents without their numbers."""
    return (content for _, content in contents(batches))


def attempt(part: int, rows: Batches) -> Batches:
    """Yield rows; a mistake of the user that is met in their making is the last one."""
    try:
        yield from rows
    except HarnessError as error:
        yield from to_rows(part, error=error)
