"""The codes that `--accept` takes."""

from __future__ import annotations

import pkgutil

import click

import retrograde.causes

_REMARKS = "RG5"


def accepted_codes(ctx: click.Context, _param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The codes of the causes that a user named, by code or by name.

    Raises:
        click.UsageError: There is no such cause, or it is a remark, which is no fault in the first place.
    """
    known = _known()
    codes: list[str] = []
    for text in value:
        wanted = text.strip().lower()
        code = next((code for code, name in known.items() if wanted in (code.lower(), name)), None)
        if code is None:
            faults = ", ".join(c for c in known if not c.startswith(_REMARKS))
            raise click.UsageError(f"There is no cause {text} to accept. This version knows {faults}.", ctx)
        if code.startswith(_REMARKS):
            raise click.UsageError(f"{code} is a remark and no fault: there is nothing to accept.", ctx)
        codes.append(code)
    return tuple(dict.fromkeys(codes))


def _known() -> dict[str, str]:
    """Names of the causes by their codes, from the names of their files: to import them would import Warp."""
    files = sorted(module.name for module in pkgutil.iter_modules(retrograde.causes.__path__))
    parts = (name.partition("_") for name in files if name.startswith("rg"))
    return {code.upper(): name.replace("_", "-") for code, _, name in parts}
