"""Write them all: ``PYTHONPATH=docs python -m pages``."""

from pathlib import Path

from pages import baselines, checks, metrics, schemas

DOCS = Path(__file__).resolve().parents[1]
TEXTS = {
    "metrics.md": metrics.page(),
    "submission-checks.md": checks.page(),
    "baseline-parameters.md": baselines.page("baselines"),
    **{f"schema/{name}": text for name, text in schemas.texts().items()},
}

for name, text in TEXTS.items():
    (DOCS / name).write_text(text, encoding="utf-8")
