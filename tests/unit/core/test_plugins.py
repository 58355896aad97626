"""Import paths: ours, an installed module's, a file's beside the config; and every mistake."""

import ast
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import small

from baselines.popular import Popular
from harness.core import plugins
from harness.core.errors import UsageError
from harness.models.guard import made

GOOD = """
class Model:
    def __init__(self, depth=1, *, width=2):
        self.depth, self.width = depth, width

    def fit(self, train):
        return self

    def recommend(self, users, k, draws, exclude=None):
        return None
"""


def load(use: str, folder: Path, params: Mapping[str, Any] | None = None) -> Any:
    return made("mine", use, plugins.load('model "mine"', use, folder, "class"), params or {})


def beside(folder: Path, text: str = GOOD, name: str = "my_model") -> Path:
    return small.write(folder, {f"{name}.py": text})


def refused(use: str, folder: Path, params: Mapping[str, Any] | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        load(use, folder, params)
    return str(caught.value)


def test_a_module_and_a_file_beside_the_config(tmp_path: Path) -> None:
    """The file wins, and does not hide the module for others."""
    model = load(POPULAR, tmp_path, {"window_days": 7})
    assert (type(model), model.window_days) == (Popular, 7)
    model = load("json:Model", beside(tmp_path, name="json"), {"width": 5})
    assert (model.depth, model.width) == (1, 5)
    assert json.loads("[1]") == [1]
    assert not hasattr(json, "Model")


def test_files_of_one_name_in_two_folders_stay_apart(tmp_path: Path) -> None:
    first = beside(tmp_path / "one")
    two = beside(tmp_path / "two", GOOD.replace("depth=1", "depth=9"))
    assert [load("my_model:Model", folder).depth for folder in (first, two, first)] == [1, 9, 1]


def test_a_function_may_make_the_model_and_take_any_parameter(tmp_path: Path) -> None:
    beside(tmp_path, GOOD + "\n\ndef make(**params):\n    return Model(*params.values())\n")
    assert load("my_model:make", tmp_path, {"whatever": 4}).depth == 4


NO_PATH = 'is not an import path; expected "module:Class", such as "my_model:Model"'
POPULAR, RANDOM = small.POPULAR["use"], small.RANDOM["use"]
ITEM_KNN = "baselines.item_knn:ItemKNN"


@pytest.mark.parametrize(
    ("use", "params", "text", "message"),
    [
        ("baselines.popular", {}, "", f'"baselines.popular" {NO_PATH}'),
        ("baselines.populer:Popular", {}, "",
         'no module "baselines.populer" (nor {folder}/baselines.populer.py); '
         'did you mean "baselines.popular"?'),
        ("my_modle:Model", {}, GOOD,  # is sought beside the config
         'no module "my_modle" (nor {folder}/my_modle.py); did you mean "my_model"?'),
        ("nowhere.at_all:Model", {}, "",
         'no module "nowhere.at_all" (nor {folder}/nowhere.at_all.py); write this file or '
         "install the module"),
        ("baselines.popular:Trainer", {}, "",  # a class that is only imported is not suggested
         'baselines.popular has no class "Trainer"; allowed: Popular'),
        ("my_model:Model", {}, "x = 1\n", 'my_model has no class "Model"; it defines no class'),
        ("my_model:model", {}, GOOD + "\nmodel = 5\n",
         'my_model has no class "model"; did you mean "Model"?'),
        (POPULAR, {"window_day": 7}, "",
         f'{POPULAR} has no parameter "window_day"; did you mean "window_days"?'),
        (ITEM_KNN, {"max_voters": 20}, "",
         f"{ITEM_KNN} no longer has max_voters; no other setting gives the same lists; the "
         'nearest is a lower "neighbours"'),
        (ITEM_KNN, {"neighbours_of": "both"}, "",
         f"{ITEM_KNN} no longer has neighbours_of = 'both'; no other setting gives the same "
         'lists; use "item" (the first of its two choices) or "candidate"'),
        (RANDOM, {"seed": 7}, "", f'{RANDOM} has no parameter "seed"; none is allowed here'),
        ("my_model:Model", {}, GOOD.replace("depth=1", "depth"),
         'my_model:Model needs the parameter "depth"; set it under params'),
        ("my_model:Model", {}, GOOD.replace("def recommend(", "def recommend_("),
         'my_model:Model has no method "recommend"; a model has fit(train) and recommend(users, k, '
         "draws, exclude=None)"),
    ],
)  # fmt: skip
def test_what_is_no_model_is_named(
    tmp_path: Path, use: str, params: dict[str, Any], text: str, message: str
) -> None:
    folder = beside(tmp_path, text) if text else tmp_path
    message = message.replace("{folder}", str(folder))
    assert refused(use, folder, params) == f'model "mine": {message}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("self.depth, self", "depth / 0; self.depth, self"),
         "my_model:Model cannot be made with these parameters: ZeroDivisionError: division by "
         "zero ({folder}/my_model.py, line 4)"),
        # It would otherwise end a run, without a word, as if all were well.
        ("import sys; sys.exit(0)", "my_model cannot be imported: SystemExit: 0"),
        ("x = 1\ndef broken(:", "my_model cannot be imported: SyntaxError: invalid syntax "
         "({folder}/my_model.py, line 2)"),
        ("import nowhere_at_all",
         "my_model needs the module nowhere_at_all, which is not installed; install its package, "
         "such as pip install nowhere_at_all"),
        ("import baselines.populr",
         "my_model needs the module baselines.populr, which is not installed; did you mean "
         '"baselines.popular"?'),
        ('raise ModuleNotFoundError("get the wheel")',
         "my_model cannot be imported: get the wheel"),
    ],
)  # fmt: skip
def test_a_module_that_fails(tmp_path: Path, text: str, message: str) -> None:
    printed = refused("my_model:Model", beside(tmp_path, text + "\n"))
    assert printed.startswith(f'model "mine": {message.format(folder=tmp_path)}')


def test_a_helper_beside_the_config_is_found_as_the_hint_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path is whole, and quoted for a shell."""
    folder = beside(tmp_path / "my shop", f"import my_helper\n{GOOD}")
    beside(folder, "", "my_helper")
    monkeypatch.chdir(folder)
    assert refused("my_model:Model", Path()) == (
        'model "mine": my_model needs the module my_helper, which is not installed; my_helper.py '
        f"is in {folder}, but Python does not look there: put PYTHONPATH='{folder}' before the "
        "command"
    )
    monkeypatch.syspath_prepend(folder)
    assert load("my_model:Model", Path()) is not None
    beside(folder, "import nowhere_at_all\n", "installed_model")
    needs = 'model "mine": installed_model needs the module nowhere_at_all, which is not installed'
    assert refused("installed_model:Model", tmp_path).startswith(needs)


def test_an_error_is_told_with_where_it_was_raised() -> None:
    """The last line outside of libraries; an error without a message has its kind."""
    with pytest.raises(SyntaxError) as error:
        ast.parse("x y")
    assert re.fullmatch(
        r"SyntaxError: .+ \(\S+test_plugins\.py, line \d+\)", plugins.told(error.value)
    )
    with pytest.raises(MemoryError) as memory:
        raise MemoryError
    shown = plugins.told(memory.value)
    assert re.fullmatch(r"MemoryError \(\S+test_plugins\.py, line \d+\)", shown)


def test_a_module_that_failed_once_is_read_again(tmp_path: Path) -> None:
    printed = refused("my_model:Model", beside(tmp_path, "1 / 0\n"))
    assert "my_model cannot be imported: ZeroDivisionError: division by zero" in printed
    assert load("my_model:Model", beside(tmp_path)) is not None
