"""RG202: a kernel on the path was built without its backward pass."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect, kernel_site
from retrograde.gradients.backward_on import has_adjoint
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy
from retrograde.trace.callsite import CallSite, is_user_file
from retrograde.trace.operations import Operation

_OPTION = "enable_backward"
_WARPS_OWN = "a kernel of Warp's own"
_OTHER_WAY = (
    "Compute this with kernels of your own, or leave what is recorded of it out and record its adjoint with "
    "Tape.record_func."
)

CAUSE = Cause(
    code="RG202",
    name="backward-disabled",
    group="chain",
    summary="A kernel on the path from parameter to loss was built without its backward pass.",
    finds=(
        "Launches of kernels built with `enable_backward=False`, set on the kernel, on its module or in `wp.config`. "
        "Proven by a twin of the kernel with a backward pass, in a module of its own: the gradient must change."
    ),
    why=(
        "The tape records such a launch, but `backward()` has nothing to run for it. What came in through the "
        "launch's outputs stops there: gradients beyond it are zero, or lack that path's share. Warp warns once."
    ),
    fix="Leave the backward pass on for kernels that a loss depends on.",
    example_wrong="""
@wp.kernel(enable_backward=False)
def pressure(density: wp.array(dtype=float), p: wp.array(dtype=float)):
    i = wp.tid()
    p[i] = density[i] * density[i]
""",
    example_right="""
@wp.kernel
def pressure(density: wp.array(dtype=float), p: wp.array(dtype=float)):
    i = wp.tid()
    p[i] = density[i] * density[i]
""",
    known_problems=(
        "A kernel whose adjoint a function recorded with `Tape.record_func` computes needs no backward pass and is "
        "not reported. A kernel that cannot be built with a backward pass stays unexplained."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/configuration.html#kernel-settings",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Switches that leave kernels on the path without a backward pass."""
    case = judgement.case
    groups: dict[tuple[CallSite, str], list[Operation]] = {}
    for operation in case.window.launches:
        call = operation.launch
        if call is None or has_adjoint(call) or operation.index in case.window.claimed:
            continue
        if operation.index in case.window.upstream:
            groups.setdefault(_switch(operation), []).append(operation)
    return [_suspect(site, where, operations) for (site, where), operations in groups.items()]


def _suspect(site: CallSite, where: str, operations: list[Operation]) -> Suspect:
    keys = list(dict.fromkeys(str(o.launch.kernel.key) for o in operations if o.launch is not None))
    names = ", ".join(keys)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(disabled=policy.disabled | frozenset(keys))

    return Suspect(
        code=CAUSE.code,
        site=site,
        order=operations[0].index,
        message=(
            f"{_OPTION} is off for {where}, so {names}, launched at line {operations[0].site.line}, has no backward "
            f"pass: nothing passes back through it."
        ),
        fix=_OTHER_WAY if where == _WARPS_OWN else f"Leave {_OPTION} on for {names}.",
        route=where,
        switch_off=switch_off,
        evidence={"launch_line": operations[0].site.line, "kernels": names},
    )


def _switch(operation: Operation) -> tuple[CallSite, str]:
    """The line that switches the backward pass off, and for what it does so."""
    assert operation.launch is not None
    kernel = operation.launch.kernel
    definition = kernel_site(operation)
    if definition is operation.site:
        return definition, _WARPS_OWN
    if kernel.options.get(_OPTION) is not None:
        return definition, "the kernel"
    lines = list(_lines_that_set(kernel.adj.filename, "set_module_options"))
    if lines:
        return CallSite(kernel.adj.filename, lines[0], "<module>"), "its module"
    for file in _user_files():
        lines = list(_lines_that_set(file, None))
        if lines:
            return CallSite(file, lines[0], "<module>"), "all modules"
    return definition, "its module"


def _user_files() -> list[str]:
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    return [str(main)] * (main is not None) + [
        f for f in files if f is not None and is_user_file(f) and "site-packages" not in f and not _is_standard(f)
    ]


def _is_standard(file: str) -> bool:
    return file.startswith((sys.base_prefix, sys.prefix))


def _lines_that_set(file: str, function: str | None) -> Iterator[int]:
    """Lines that hand the option to a function, or without one assign it as an attribute."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if function is None and isinstance(node, ast.Assign):
            if any(isinstance(t, ast.Attribute) and t.attr == _OPTION for t in node.targets):
                yield node.lineno
        elif isinstance(node, ast.Call) and _is_named(node.func, function) and _names_option(node):
            yield node.lineno


def _is_named(function: ast.expr, name: str | None) -> bool:
    return getattr(function, "attr", getattr(function, "id", "")) == name


def _names_option(call: ast.Call) -> bool:
    return any(isinstance(c, ast.Constant) and c.value == _OPTION for a in call.args for c in ast.walk(a))
