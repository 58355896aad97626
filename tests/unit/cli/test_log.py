"""Where the log and bars stand: lines on standard error, and bars at terminals alone."""

import io
import logging

import pytest
from conftest import refusal

from harness.cli.output import asking_for, bars, logged
from harness.core.errors import UsageError
from harness.core.progress import steps


class Terminal(io.StringIO):
    """A terminal, as far as bars ask."""

    def isatty(self) -> bool:
        return True

    def screen(self) -> list[str]:
        """Return what stands on it: after a carriage return letters are written over."""
        shown, at = [""], 0
        for letter in self.getvalue().replace("\x1b[A", ""):
            if letter == "\n":
                shown.append("")
            elif letter != "\r":
                shown[-1] = shown[-1][:at].ljust(at) + letter + shown[-1][at + 1 :]
            at = 0 if letter in "\r\n" else at + 1
        return [line.rstrip() for line in shown]


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal in the place of standard error."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    return terminal


@pytest.mark.parametrize("delay", [0, 60])
def test_lines_and_bars_do_not_tear_each_other_up(
    monkeypatch: pytest.MonkeyPatch, delay: int
) -> None:
    terminal = at_terminal(monkeypatch)
    log = logging.getLogger("harness.data")
    with logged(), bars() as shown:
        with steps("reading", 4, " rows", shown, delay) as bar:
            bar.update()
            log.warning("a first line")
            bar.update()
            log.warning("another")
            assert terminal.screen()[:2] == ["a first line", "another"]
            assert terminal.screen()[2].startswith("reading:  50%")
        log.warning("the end")
    assert terminal.screen() == ["a first line", "another", "the end", ""]


def test_a_bar_is_gone_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    with pytest.raises(KeyboardInterrupt), steps("reading", 4, " rows", delay=0) as bar:
        bar.update(2)
        bar.refresh()
        assert terminal.screen()[-1].startswith("reading:  50%")
        raise KeyboardInterrupt
    assert terminal.screen() == [""]


def test_bars_are_for_terminals_and_not_for_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    with bars() as shown:
        assert not shown
    at_terminal(monkeypatch)
    for level, expected in ((logging.INFO, True), (logging.ERROR, False)):
        with logged():
            asking_for(level)(True)
            with bars() as shown:
                assert shown == expected


@pytest.mark.parametrize("levels", [(logging.ERROR, logging.INFO), (logging.DEBUG, logging.ERROR)])
def test_silence_goes_with_no_wish_for_more(levels: tuple[int, int]) -> None:
    log = logging.getLogger("harness")
    before = log.level, log.propagate, list(log.handlers)
    with logged():
        asking_for(levels[0])(True)
        asking_for(levels[1])(False)  # the option is not there
        with refusal(UsageError, "--quiet leaves out what --verbose and --debug show"):
            asking_for(levels[1])(True)
    assert (log.level, log.propagate, log.handlers) == before
