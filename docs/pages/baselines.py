"""docs/baseline-parameters.md: every class of a package, with what each parameter is."""

from __future__ import annotations

from harness.listing.tables import models

_HEAD = """# {title}: parameters

Written by `make pages` from the docstrings; what they are for is in [{name}.md]({name}.md).
"""


def page(package: str) -> str:
    """Return Markdown on every class of a package."""
    lines = [_HEAD.format(title=package.capitalize(), name=package)]
    for model, text in models(package):
        lines += [f"## `{model.use.removeprefix(f'{package}.')}`", "", text, ""]
        if model.parameters:
            lines += ["| parameter | default | meaning |", "|---|---|---|"]
            for p in model.parameters:
                default = "none" if p.default in (None, []) else f"`{str(p.default).lower()}`"
                meaning = p.meaning.replace("|", "\\|").replace("``", "`")
                lines.append(f"| `{p.name}` | {'–' if p.required else default} | {meaning} |")
            lines.append("")
    return "\n".join(lines)
