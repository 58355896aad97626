"""Arrays, matrices and ids by name as bytes, and back: what workers send, without pickle.

First eight bytes: the length of the header. The header is JSON: what stands where. Then the values
themselves, each from a multiple of eight bytes on. Bytes that are cut short, too long or otherwise
at odds with their header are refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from harness.core.arrays import Int64
from harness.core.exact_sum import Exact, Largest
from harness.data import _events
from harness.data.dataset import DAY_US

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ALIGNED = 8
_UNITS_US = np.array([DAY_US, 1_000_000, 1])
_KINDS = "biuf"
"""Of arrays: bool, whole numbers and floats."""
_ARRAY, _MATRIX, _COLUMN, _FRAME, _MAPPING = "array", "matrix", "column", "frame", "mapping"
_LARGEST, _EXACT = "largest", "exact"


class PackedError(ValueError):
    """Bytes that are not what `packed` makes."""


def packed(values: Mapping[Any, Any]) -> bytes:
    """Return values as bytes.

    Parameters
    ----------
    values : mapping
        Keys are whole numbers or text; values are arrays of numbers, exact and largest ones, CSR
        matrices, columns and frames of Polars (as a stream of Arrow), or mappings of these.

    Raises
    ------
    TypeError
        Any other key or value.

    Examples
    --------
    >>> unpacked(packed({"a": np.array([1, 2]), 7: {"ids": pl.Series(["x"])}}))["a"].tolist()
    [1, 2]
    """
    buffers: list[memoryview] = []
    header = json.dumps(_described(values, buffers)).encode()
    pieces: list[bytes | memoryview] = [len(header).to_bytes(_ALIGNED, "little"), header]
    pieces.append(bytes(-len(header) % _ALIGNED))
    for buffer in buffers:
        pieces += [buffer, bytes(-buffer.nbytes % _ALIGNED)]
    return b"".join(pieces)


def _described(value: Any, buffers: list[memoryview]) -> list[Any]:
    """Return what the header says of a value; take in its bytes."""
    if isinstance(value, Mapping):
        return [_MAPPING, [[_key(k), _described(v, buffers)] for k, v in value.items()]]
    if isinstance(value, pl.Series | pl.DataFrame):
        kind = _COLUMN if isinstance(value, pl.Series) else _FRAME
        frame, sink = value.to_frame() if isinstance(value, pl.Series) else value, io.BytesIO()
        frame.write_ipc_stream(sink, compat_level=pl.CompatLevel.oldest())  # of a slice, its rows
        stream = np.frombuffer(sink.getbuffer(), np.uint8)
        return [kind, _described(stream, buffers)]
    if isinstance(value, Largest | Exact):
        kind = _LARGEST if isinstance(value, Largest) else _EXACT
        return [kind, _described(value.values, buffers)]
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        buffers.append(plain.reshape(-1).view(np.uint8).data)
        return [_ARRAY, value.dtype.newbyteorder("<").str, list(value.shape)]
    if getattr(value, "format", None) == "csr":
        arrays = value.data, value.indices, value.indptr
        return [_MATRIX, list(value.shape), *(_described(array, buffers) for array in arrays)]
    raise TypeError(f"{type(value).__name__} cannot be packed; expected arrays of numbers")


def _key(key: Any) -> int | str:
    if isinstance(key, str):
        return key
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        return int(key)
    raise TypeError(f"the key {key!r} cannot be packed; expected a whole number or text")


def unpacked(data: Any) -> dict[Any, Any]:
    """Return what `packed` made bytes of; arrays are views of these.

    Raises
    ------
    PackedError
        Bytes that it did not make, or not all of them.
    """
    view = memoryview(data).cast("B")
    if len(view) < _ALIGNED:
        raise PackedError("the header is missing")
    size = int.from_bytes(view[:_ALIGNED], "little")
    if size > len(view) - _ALIGNED:
        raise PackedError("the header is cut short")
    reader = _Reader(view, _after(_ALIGNED + size))
    try:
        found = reader.value(json.loads(bytes(view[_ALIGNED : _ALIGNED + size])))
    except (ValueError, TypeError, KeyError, RecursionError, pl.exceptions.PolarsError) as error:
        raise PackedError(f"the header and the values do not agree: {error}") from error
    if reader.at != len(view) or not isinstance(found, dict):
        raise PackedError("the values are not those of the header")
    return found


def _after(place: int) -> int:
    return place + -place % _ALIGNED


class _Reader:
    """Reads values one behind the other."""

    def __init__(self, view: memoryview, at: int) -> None:
        self.view, self.at = view, at

    def value(self, header: Any) -> Any:
        """Return the value that a part of the header describes."""
        kind, *rest = header
        read: dict[str, Callable[..., Any]] = {
            _ARRAY: self._array,
            _LARGEST: lambda values: Largest(self.value(values)),
            _EXACT: lambda values: Exact(self.value(values)),
            _MATRIX: self._matrix,
            _COLUMN: lambda stream: self._frame(stream).to_series(),
            _FRAME: self._frame,
            _MAPPING: lambda pairs: {_key(key): self.value(of) for key, of in pairs},
        }
        return read[kind](*rest)

    def _array(self, name: str, shape: list[int]) -> npt.NDArray[Any]:
        dtype = np.dtype(name)
        if dtype.kind not in _KINDS or any(not isinstance(n, int) or n < 0 for n in shape):
            raise PackedError("an array of no numbers")
        count = 1
        for n in shape:
            count *= n
        stop = self.at + count * dtype.itemsize
        found = np.frombuffer(self.view[self.at : stop], dtype).reshape(shape)  # refuses fewer
        self.at = _after(stop)
        return found if found.flags.aligned else found.copy()

    def _matrix(self, shape: list[int], *arrays: Any) -> csr_array[Any]:
        from scipy.sparse import csr_array  # slow to import

        data, indices, indptr = (self.value(array) for array in arrays)
        found = csr_array((data, indices, indptr), shape=(shape[0], shape[1]))
        found.check_format(full_check=True)
        return found

    def _frame(self, stream: Any) -> pl.DataFrame:
        return pl.read_ipc_stream(io.BytesIO(self.value(stream)))


def narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return whole numbers from 0 in as few bytes as hold the largest."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def narrow_times(time: Int64) -> dict[str, npt.NDArray[Any]]:
    """Return times, of which there must be one, as numbers of days, seconds or microseconds.

    Examples
    --------
    >>> {name: of.tolist() for name, of in narrow_times(np.array([172_800_000_000, 0])).items()}
    {'steps': [2, 0], 'scale': [0, 86400000000]}
    """
    low, _, unit = _events.span(time, _UNITS_US)
    step = int(_UNITS_US[unit])
    return {"steps": narrow((time - low) // step), "scale": np.array([low, step])}


def times(narrowed: Mapping[str, npt.NDArray[Any]]) -> Int64:
    """Return the times that `narrow_times` was given."""
    low, step = narrowed["scale"].tolist()
    found: Int64 = narrowed["steps"].astype(np.int64) * step + low
    return found
