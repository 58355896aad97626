"""Machine code of compiled functions, kept so that a short command need not start the compiler.

Importing numba and preparing it takes half a second, whatever is then called. The machine code that
it has made is kept here beside how the function is called, and is linked by llvmlite alone. Only
functions of plain numbers and arrays are; whatever is not kept, or was made by other versions, from
other source or for another processor, goes the usual way.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from harness import elf, kept

FORMAT = "native 1"
"""Changed whenever code would be kept or called differently."""

_OK = (0, -2)
"""What a function returns that has not raised; −2 where it has no value."""
_MEMORY = "core/runtime/_nrt_python"
_NUMBERS = {"i": ctypes.c_int64, "b": ctypes.c_uint8, "d": ctypes.c_double}

Native = Callable[..., Any]


def load(name: str, arguments: str) -> Native | None:
    """Return what calls the machine code of a function for such arguments; None without any."""
    try:
        return _entry(name, arguments).read(_linked)
    except (
        ImportError,
        RuntimeError,
    ):  # another system, or other versions: there is no shorter way
        return None


def keep(name: str, dispatcher: Any, signature: Any) -> None:
    """Keep the machine code that numba has made of a function for arguments of some types."""
    arguments, returns = _taken_by(signature.args), _returned(signature.return_type)
    if arguments is None or returns is None:
        return
    entry = _entry(name, arguments)
    if (entry.path / "code.o").is_file():
        return
    try:
        code = _object(dispatcher, signature)
    except Exception:  # numba keeps its code otherwise in this version: there is no shorter way
        return
    _forget_others()
    symbol = dispatcher.overloads[signature.args].fndesc.llvm_func_name
    entry.keep(partial(_write, code, {"symbol": symbol, "returns": returns}))


def _entry(name: str, arguments: str) -> kept.Entry:
    return kept.entry((_processor(), name, arguments), _compilers(), _place())


@cache
def _place() -> Path:
    """Return the folder for this source: beside it, as numba has it, or else in the cache."""
    beside = Path(__file__).parent / "__pycache__"
    root = beside if os.access(beside, os.W_OK) else kept.folder()
    return root / "native" / sha256(repr((FORMAT, _stamp())).encode()).hexdigest()[:32]


@cache
def say_if_first() -> None:
    """Tell whoever waits at a terminal that the first command of an installation compiles."""
    if sys.stderr.isatty() and not _place().exists():
        print("compiling, this once; half a minute", file=sys.stderr)


@cache
def _forget_others() -> None:
    """Remove what was kept of other source."""
    place = _place()
    with suppress(OSError):  # nothing is there yet, or it is not ours
        for other in place.parent.iterdir():
            if other != place:
                shutil.rmtree(other, ignore_errors=True)


def _write(code: bytes, notes: dict[str, Any], folder: Path) -> dict[str, Any]:
    (folder / "code.o").write_bytes(code)
    return notes


def _object(dispatcher: Any, signature: Any) -> bytes:
    """Return the object file of a function, from numba's own cache if it came from there."""
    library = dispatcher.overloads[signature.args].library
    try:
        return bytes(library._get_compiled_object())
    except RuntimeError:
        own = dispatcher._cache
        found = own._cache_file.load(own._index_key(signature.args, library.codegen))
        return bytes(found[0][2][0])


def _linked(folder: Path, notes: dict[str, Any]) -> Native:
    """Return what calls the code of an entry."""
    import llvmlite.binding as llvm

    engine = _engine()
    content = (folder / "code.o").read_bytes()
    for name in elf.undefined(content):
        if llvm.address_of_symbol(name) is None:
            raise ValueError(f"nobody has {name}: linked, it would be called at no address")
    code = llvm.ObjectFileRef.from_data(content)
    engine.add_object_file(code)
    engine.finalize_object()
    return partial(_call, engine.get_function_address(notes["symbol"]), _layout(notes["returns"]))


def _call(address: int, returns: Any, *arguments: Any) -> Any:
    """Call as numba does: where the value goes, where an error goes, then the parts of each."""
    value, error = returns(), ctypes.c_void_p()
    parts = [part for argument in arguments for part in _parts(argument)]
    types = [ctypes.c_void_p, ctypes.c_void_p, *map(type, parts)]
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *types)(address)  # lets go of Python's lock
    status = function(ctypes.addressof(value), ctypes.addressof(error), *parts)
    if status not in _OK:
        raise RuntimeError(f"compiled code failed with status {status}")
    fields = [getattr(value, name) for name, *_ in returns._fields_]
    return None if not fields else fields[0] if returns.single else tuple(fields)


def _parts(argument: Any) -> Iterator[Any]:
    """Yield what an argument is handed over as: no owner, sizes, address, shape and strides."""
    if isinstance(argument, tuple):
        for inner in argument:
            yield from _parts(inner)
    elif isinstance(argument, np.ndarray):
        numbers = argument.size, argument.itemsize, argument.ctypes.data
        for number in (0, 0, *numbers, *argument.shape, *argument.strides):
            yield ctypes.c_int64(number)
    else:
        yield _NUMBERS[taken((argument,)) or ""](argument)


def _layout(returns: str) -> Any:
    """Return the structure that a value is written to: ``n`` nothing, or its numbers in order."""
    single = not returns.startswith("(")
    numbers = [] if returns == "n" else list(returns.strip("()"))
    fields = [(f"number{at}", _NUMBERS[kind]) for at, kind in enumerate(numbers)]
    return type("Value", (ctypes.Structure,), {"_fields_": fields, "single": single})


def taken(arguments: tuple[Any, ...]) -> str | None:
    """Return a text for the types of arguments, None where one is none that can be handed over."""
    texts = []
    for argument in arguments:
        if isinstance(argument, tuple):
            text = taken(argument)
            texts.append(None if text is None else f"({text})")
        elif isinstance(argument, np.ndarray) and argument.flags.aligned:
            mark = "w" if argument.flags.writeable else "r"
            layout = "C" if argument.flags.c_contiguous else "A"
            plain = argument.dtype.kind in "iufb" and argument.dtype.isnative
            texts.append(f"{argument.dtype}{argument.ndim}{layout}{mark}" if plain else None)
        else:
            number = {int: "i", bool: "b", float: "d"}.get(type(argument))
            texts.append(number if number != "i" or abs(argument) < 1 << 63 else None)
    return None if None in texts else ",".join(text for text in texts if text is not None)


def _taken_by(types: Any) -> str | None:
    """Return the same text for numba's types."""
    texts = []
    for kind in types:
        name = type(kind).__name__
        if name in ("UniTuple", "Tuple"):
            text = _taken_by(kind.types)
            texts.append(None if text is None else f"({text})")
        elif name == "Array" and kind.layout in "CA" and kind.aligned:
            mark = "w" if kind.mutable else "r"
            texts.append(f"{kind.dtype}{kind.ndim}{kind.layout}{mark}")
        else:
            texts.append({"int64": "i", "bool": "b", "float64": "d"}.get(str(kind)))
    return None if None in texts else ",".join(text for text in texts if text is not None)


def _returned(kind: Any) -> str | None:
    if str(kind) == "none":
        return "n"
    text = (_taken_by((kind,)) or "").replace(",", "")
    return text if set(text) <= set("()ibd") and text else None


@cache
def _engine() -> Any:
    """Return llvmlite's linker, which knows where numba's own functions are."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    unused = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p).value
    known = {f"NRT_{name}": address for name, address in _memory().items()}
    for name, address in (known | dict.fromkeys(_ONLY_IN_WRAPPERS, unused)).items():
        if llvm.address_of_symbol(name) is None:  # else numba is there, and has said it
            llvm.add_symbol(name, address)
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(jit=True, codemodel="jitdefault")
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


_ONLY_IN_WRAPPERS = (
    "numba_do_raise",
    "numba_gil_ensure",
    "numba_gil_release",
    "numba_runtime_build_excinfo_struct",
    "numba_unpickle",
)
"""What raises, and what Python calls: no code here is called by Python, and none raises."""


def _memory() -> dict[str, int]:
    """Return the addresses of numba's functions that allocate memory, without importing numba."""
    (path,) = (p for p in _folder("numba").glob(f"{_MEMORY}.*") if p.suffix in (".so", ".pyd"))
    name = f"numba.{_MEMORY.replace('/', '.')}"
    spec = spec_from_file_location(name, path, loader=ExtensionFileLoader(name, str(path)))
    assert spec is not None  # noqa: S101 - the loader is given
    assert spec.loader is not None  # noqa: S101
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.c_helpers)


@cache
def _compilers() -> tuple[Path, ...]:
    """Return files that change with the versions of numba and llvmlite."""
    return tuple(_folder(name) / "_version.py" for name in ("numba", "llvmlite"))


@cache
def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ImportError(f"no package {package}")
    return Path(spec.origin).parent


@cache
def _stamp() -> tuple[tuple[str, int, int], ...]:
    """Return what changes with any source: compiled functions call those of other modules."""
    root = Path(__file__).parent
    stats = ((str(path), path.stat()) for path in sorted(root.rglob("*.py")))
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@cache
def _processor() -> str:
    import llvmlite.binding as llvm

    return f"{os.name} {llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
