"""Pages made from the package at build time: one a cause, one a room, the command's options."""

from __future__ import annotations

import json
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import retrograde
from retrograde.causes.registry import all_causes
from retrograde.cli.main import retrograde as command
from retrograde.report.json import schema
from retrograde.report.page import page_of

Pages = dict[str, str]

_DOCS = Path(__file__).parent
_GROUPS = {
    "contents": "Contents: what the backward pass re-reads is no longer what the forward pass read",
    "chain": "Chain: the gradient cannot get through",
    "bookkeeping": "Bookkeeping: the right gradient, used wrongly",
    "kernels": "Kernels: the adjoint of one launch is not its derivative",
    "remarks": "Remarks: the gradient is right, or cannot be judged, and this explains the complaint",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that are made here into the navigation."""
    made = {"Causes": _cause_pages(), "Reference": _reference_pages()}
    sections: dict[str, list[Any]] = {title: list(pages) for title, pages in made.items()}
    sections["Decisions"] = sorted(f"decisions/{path.name}" for path in (_DOCS / "decisions").glob("*.md"))
    config.nav = [_fill(entry, sections) for entry in config.nav or []]
    config.extra["made"] = made
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made here."""
    for pages in config.extra["made"].values():
        for path, text in pages.items():
            files.append(File.generated(config, path, content=text))
    return files


def _fill(entry: Any, sections: dict[str, list[Any]]) -> Any:
    if isinstance(entry, dict) and (title := next(iter(entry))) in sections:
        return {title: sections[title]}
    return entry


def _cause_pages() -> Pages:
    causes = all_causes()
    lines = ["# Causes", "", "Why a gradient is wrong, or looks wrong. `retrograde explain CODE` shows the same pages."]
    pages: Pages = {}
    for group, title in _GROUPS.items():
        members = [cause for cause in causes if cause.group == group]
        if members:
            lines += ["", f"## {title}", "", "| code | name | |", "|---|---|---|"]
        for cause in members:
            path = f"{cause.code.lower()}-{cause.name}.md"
            lines.append(f"| [{cause.code}]({path}) | {cause.name} | {' '.join(cause.summary.split())} |")
            pages[f"causes/{path}"] = page_of(cause)
    if unknown := {cause.code for cause in causes if cause.group not in _GROUPS}:
        raise ValueError(f"Causes of no known group: {sorted(unknown)}.")
    return {"causes/index.md": "\n".join(lines) + "\n", **pages}


def _reference_pages() -> Pages:
    pages = {"reference/command.md": _command_page(), "reference/report.md": _report_page()}
    modules = list(_modules(retrograde))
    rooms = sorted({_room(name) for name in modules})
    for room in rooms:
        members = [name for name in modules if _room(name) == room]
        title = room.removeprefix("retrograde.")
        body = "\n\n".join(f"::: {name}" for name in members)
        pages[f"reference/{title.replace('.', '-')}.md"] = f"# {title}\n\n{body}\n"
    return pages


def _modules(package: ModuleType) -> list[str]:
    """Public modules of the package, by name and without importing them."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.", onerror=lambda _name: None)
    names = [module.name for module in found if not module.ispkg or _has_docstring(package, module.name)]
    hidden = ("retrograde.cli", "retrograde.causes.rg")
    return [name for name in names if "._" not in name and not name.startswith(hidden)]


def _has_docstring(package: ModuleType, name: str) -> bool:
    folder = Path(package.__path__[0]).joinpath(*name.split(".")[1:])
    return (folder / "__init__.py").read_text(encoding="utf-8").lstrip().startswith(('"""', 'r"""'))


def _room(name: str) -> str:
    """The page that a module is on: its room, and in the aerosol half the room there."""
    parts = name.split(".")
    return ".".join(parts[: 3 if parts[1] == "aerosol" else 2])


def _command_page() -> str:
    blocks = ["# The command"]
    assert isinstance(command, click.Group)
    context = click.Context(command, info_name="retrograde")
    for name in command.list_commands(context):
        subcommand = command.commands[name]
        if not subcommand.hidden:
            help_text = subcommand.get_help(
                click.Context(subcommand, info_name=name, parent=context, max_content_width=100)
            )
            blocks.append(f"## retrograde {name}\n\n```text\n{help_text}\n```")
    blocks.append((_DOCS / "reference" / "exit-statuses.md").read_text(encoding="utf-8"))
    return "\n\n".join(blocks)


def _report_page() -> str:
    text = (_DOCS / "reference" / "json-report.md").read_text(encoding="utf-8")
    return f"{text}\n```json\n{json.dumps(schema(), indent=2)}\n```\n"
