"""Standard error: the log, and below it a line that says what is being done."""

import io
import logging
import os

import pytest
from conftest import refusal

from harness.cli.output import asking_for, logged
from harness.core.errors import UsageError
from harness.core.progress import doing, shown


class Terminal(io.StringIO):
    """A terminal, as far as the line asks."""

    def isatty(self) -> bool:
        return True

    def screen(self) -> list[str]:
        """Return what stands on it: what clears a line leaves nothing before it."""
        return [line.rpartition("\r\x1b[K")[2] for line in self.getvalue().split("\n")]


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal in the place of standard error."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((90, 24)))
    return terminal


def test_a_line_says_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    with shown() as line, doing("tuning ALS, trial", 20) as trials:
        trials.update(3)
        with doing("fitting"):
            line.draw()
            assert terminal.screen() == ["tuning ALS, trial 4 of 20  fitting  0 s"]
        with doing("recommending", 4000, " users") as stage:
            stage.update(1000)
            line.draw()
            (text,) = terminal.screen()
    assert text.startswith("tuning ALS, trial 4 of 20  recommending  0 s   25 % |")
    assert "1,000 of 4,000 users, 00:0" in text
    assert terminal.screen() == [""]


def test_the_log_stands_above_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    log = logging.getLogger("harness.data")
    with logged(), shown() as line:
        with doing("reading", 4, " rows") as stage:
            line.draw()
            log.warning("a first line")
            stage.update(2)
            line.draw()
            log.warning("another")
            line.draw()
            assert terminal.screen()[:2] == ["a first line", "another"]
            assert terminal.screen()[2].startswith("reading  0 s   50 % |")
        log.warning("the end")
    assert terminal.screen() == ["a first line", "another", "the end", ""]


def test_the_line_is_gone_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    with pytest.raises(KeyboardInterrupt), shown() as line, doing("reading"):
        line.draw()
        assert terminal.screen() == ["reading  0 s"]
        raise KeyboardInterrupt
    assert terminal.screen() == [""]


def test_quiet_draws_nothing_and_a_file_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, file = at_terminal(monkeypatch), io.StringIO()
    with logged(), shown() as line, doing("fitting"):
        asking_for(logging.ERROR)(True)
        line.draw()
        assert terminal.getvalue() == ""
    monkeypatch.setattr("sys.stderr", file)
    with shown() as line, doing("recommending", 4, " users") as stage:
        stage.update(1)
        line.draw()
    assert file.getvalue().startswith("recommending  0 s  1 of 4 users, 00:0")


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
