"""Worker processes beside this one: started anew, never forked, and told what to do in JSON.

A worker answers one request after the other, with JSON and arrays. What it prints goes to standard
error. It ends when the process that started it does, however that ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any, NamedTuple, cast

import numpy as np

from harness.core.arrays import Int32
from harness.core.errors import INTERRUPTED, HarnessError, RecommenderError

_START = (
    "import importlib, json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "importlib.import_module(sys.argv[1]).main()"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
"""The variables by which libraries are told how many threads they may have."""
_PATIENT = {"OMP_WAIT_POLICY": "passive"}
"""Threads that wait for one another leave the processors to the other processes."""

_OUR_FAULT = 70


class Answer(NamedTuple):
    """What a worker says: values of JSON, and arrays of int32 of two dimensions."""

    told: dict[str, Any]
    arrays: Sequence[Int32] = ()


class LostError(Exception):
    """A worker that ended before it answered; the message says how.

    Attributes
    ----------
    by_itself : bool
        Whether what it was asked ended it, and would end any process that is asked the same.
    """

    def __init__(self, status: int) -> None:
        super().__init__(_ended(status))
        self.by_itself = status not in (-signal.SIGKILL, -signal.SIGTERM, INTERRUPTED, _OUR_FAULT)


class Worker:
    """A process that answers one request after the other.

    Parameters
    ----------
    module : str
        Its `main` calls `serve`.
    threads : int
        How many each library in it may use, unless the environment says so already.
    folder : Path
        Its current folder.
    """

    def __init__(self, module: str, threads: int, folder: Path) -> None:
        # Ctrl-C at a terminal goes to a group of processes, and is this one's to answer.
        own: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
        self._process = subprocess.Popen(  # noqa: S603  # this Python, and a module of ours
            [sys.executable, "-c", _START, module, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_PATIENT | dict.fromkeys(_THREADS, str(threads)) | os.environ,
            cwd=folder,
            **own,
        )
        self._requests = cast(IO[bytes], self._process.stdin)
        self._answers = cast(IO[bytes], self._process.stdout)

    def ask(self, request: Mapping[str, Any]) -> Answer:
        """Return the answer to a request.

        Raises
        ------
        LostError
            The process has ended.
        RecommenderError
            It answers with a mistake that a person can mend.
        """
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
            found = _received(self._answers)
        except (OSError, EOFError, ValueError) as error:
            raise LostError(self._process.wait()) from error
        if "error" in found.told:
            mistake = RecommenderError(found.told["error"])
            mistake.add_note(found.told["traceback"])
            raise mistake
        return found

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.terminate()
        self._process.wait()
        for pipe in (self._requests, self._answers):
            with suppress(OSError):  # what was not sent yet is of no use any more
                pipe.close()


def _ended(status: int) -> str:
    if status == -signal.SIGKILL:
        return "was killed (memory may have run out)"
    return f"ended by signal {-status}" if status < 0 else f"ended with status {status}"


def serve(answer: Callable[[dict[str, Any]], Answer]) -> None:
    """Answer what the process asks that started this one, until it ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a model may read and print as it likes
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    waiting = SimpleQueue[bytes]()
    Thread(target=_listen, args=(requests, waiting), daemon=True).start()
    while True:
        request = json.loads(waiting.get())
        try:
            found = answer(request)
        except HarnessError as error:
            told = "".join(traceback.format_exception(error))
            found = Answer({"error": str(error), "traceback": told})
        except KeyboardInterrupt:  # a model's: nobody interrupts a worker
            os._exit(INTERRUPTED)
        except BaseException:
            traceback.print_exc()
            os._exit(_OUR_FAULT)
        _send(answers, found)


def _listen(requests: IO[bytes], waiting: SimpleQueue[bytes]) -> None:
    for line in requests:
        waiting.put(line)
    os._exit(0)  # the process that asks has ended: nobody waits for what is under way


def _send(answers: IO[bytes], found: Answer) -> None:
    arrays = [np.ascontiguousarray(array, np.int32) for array in found.arrays]
    head = {"told": found.told, "shapes": [array.shape for array in arrays]}
    answers.write(json.dumps(head).encode() + b"\n")
    for array in arrays:
        answers.write(array.data)
    answers.flush()


def _received(answers: IO[bytes]) -> Answer:
    line = answers.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    head = json.loads(line)
    arrays = []
    for rows, columns in head["shapes"]:
        size = 4 * rows * columns
        content = answers.read(size)
        if len(content) < size:
            raise EOFError
        arrays.append(np.frombuffer(content, np.int32).reshape(rows, columns))
    return Answer(head["told"], arrays)
