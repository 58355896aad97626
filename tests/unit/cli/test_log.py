"""Standard error: the log, and below it a line that says what is being done."""

import io
import logging

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
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    return terminal


def test_a_line_says_what_is_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    with shown() as line, doing("ALS, trial", 20) as trials:
        trials.update(3)
        with doing("fitting"):
            line.draw()
            assert terminal.screen() == ["ALS, trial 4 of 20  fitting  0 s"]
        with doing("recommending", 4000, " users") as stage:
            stage.update(1000)
            line.draw()
            (text,) = terminal.screen()
    assert text.startswith("ALS, trial 4 of 20  recommending  0 s  1,000 of 4,000 users, 00:0")
    assert terminal.screen() == [""]


def test_what_others_write_stands_above_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)

    def write(text: str) -> None:
        with line.above(text.encode()):
            terminal.write(text)

    with shown() as line, doing("reading", 4, " rows") as stage:
        line.draw()
        write("a first line\n")
        stage.update(2)
        line.draw()
        write("no end")
        line.draw()  # below what has no end there is no line
        assert terminal.screen() == ["a first line", "no end"]
        write(" yet\n")
        line.draw()
        assert terminal.screen()[:2] == ["a first line", "no end yet"]
        assert terminal.screen()[2].startswith("reading  0 s   50 % |")
    assert terminal.screen() == ["a first line", "no end yet", ""]


def test_a_narrow_line_has_no_bar_and_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 80 columns three stay free; the name is cut, and what is counted is not."""
    terminal, name = at_terminal(monkeypatch), "a model with a name of many words " * 2
    with shown() as line, doing(f"1 of 9  {name} fitting", 4_000, " users") as stage:
        stage.update(1_000)
        line.draw()
        (text,) = terminal.screen()
    assert text.startswith("1 of 9  a model")
    assert "fitting  0 s  1,000 of 4,000 users, 00:0" in text
    assert len(text) <= 77


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
        with refusal(UsageError, "--quiet contradicts --verbose and --debug"):
            asking_for(levels[1])(True)
    assert (log.level, log.propagate, log.handlers) == before
