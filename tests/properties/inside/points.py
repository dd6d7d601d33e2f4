"""Faults that lie in where a kernel is evaluated, or in the order of its threads: RG408, RG409, RG411, RG501."""

from __future__ import annotations

from tests.properties.inside.constructs import Construct, Family, Place, indented

_MASKED, _SINGULAR, _RACE, _FLAT = "  # <- RG408", "  # <- RG409", "  # <- RG411", "  # <- RG501"


# -- RG408 ---------------------------------------------------------------------------------------------


def _zero_somewhere(p: Place) -> str:
    """A number that is zero in some threads, with whatever becomes of its gradient there."""
    return f"{p.x} * {p.real}({p.turns} - 2)"


def masked(p: Place) -> Construct:
    t, limit = p.name, p.any(0.5, 0.8)
    other = f"{p.c(0.3)} * {t}"
    bad = p.one_of(f"wp.sqrt({t})", f"wp.log({t})", f"{t} * wp.log({t})", f"wp.pow({t}, {p.c(0.5)})")
    zero = p.c(0.0)
    form = p.one_of(f"wp.where({t} > {zero}, {bad}, {other})", f"wp.where({t} <= {zero}, {other}, {bad})")
    body = (f"{t} = {p.x} - {limit}", f"{t}_value = {form}{_MASKED}")
    return Construct("masked", body, f"{t}_value", iterations=1)


def masked_quotient(p: Place) -> Construct:
    t, zero = p.name, p.c(0.0)
    body = (
        f"{t} = {_zero_somewhere(p)}",
        f"{t}_value = wp.where({t} > {zero}, wp.sin({t}) / {t}, {p.c(1.0)}) * {p.factor()}{_MASKED}",
    )
    return Construct("masked quotient", body, f"{t}_value", iterations=1)


def branched(p: Place) -> Construct:
    t, zero = p.name, p.c(0.0)
    body = (
        f"{t} = {p.x} - {p.any(0.3, 0.7)}",
        f"{t}_value = {p.c(0.3)} * {t}",
        f"if {t} > {p.c(0.01)}:",
        *indented([f"{t}_value = wp.sqrt({t})"]),
        f"{t}_more = wp.where({t} > {zero}, {t} * {t}, {zero})",
    )
    return Construct("a branch", body, f"{t}_value + {t}_more")


# -- RG409 ---------------------------------------------------------------------------------------------


def root_at_zero(p: Place) -> Construct:
    t = p.name
    root = p.one_of(
        f"wp.sqrt({t} * {t})", f"wp.pow({t} * {t}, {p.c(0.5)})", f"wp.sqrt({t} * {t} * {p.factor()})", f"wp.cbrt({t})"
    )
    used = f"{t}_root * {t}_root * {t}_root * {t}_root" if "cbrt" in root else f"{t}_root * {t}_root"
    body = (f"{t} = {_zero_somewhere(p)}", f"{t}_root = {root}{_SINGULAR}")
    return Construct("root at zero", body, f"{used} + {p.y}", iterations=1)


def norm_at_zero(p: Place) -> Construct:
    t, v = p.name, f"{p.name}_v"
    body = (
        f"{t} = {_zero_somewhere(p)}",
        f"{v} = wp.vec2{p.suffix}({t}, {t} * {p.y})",
        f"{t}_norm = wp.sqrt(wp.dot({v}, {v})){_SINGULAR}",
    )
    return Construct("norm at zero", body, f"wp.exp({t}_norm * {t}_norm * {p.c(0.3)})", iterations=1)


def guarded(p: Place) -> Construct:
    t, v = p.name, f"{p.name}_v"
    body = (
        f"{t} = {_zero_somewhere(p)}",
        f"{v} = wp.vec2{p.suffix}({t}, {t} * {p.y})",
        f"{t}_norm = wp.sqrt(wp.dot({v}, {v}) + {p.c(0.01)})",
    )
    return Construct("guarded root", body, f"wp.exp({t}_norm * {t}_norm * {p.c(0.3)}) * wp.sin({t}_norm)")


# -- RG411 ---------------------------------------------------------------------------------------------


def racing(p: Place) -> Construct:
    """Each thread reads what the thread before it has written."""
    t = p.name
    body = (
        f"{t} = {p.start()}",
        "if thread > 0:",
        *indented([f"{t} = {t} + {p.any(0.3, 0.6)} * wp.sin(listed[thread - 1]){_RACE}"]),
        f"listed[thread] = {t} * {p.factor()}{_RACE}",
    )
    return Construct("reads its neighbour", body, t, in_kernel=True)


# -- RG501 ---------------------------------------------------------------------------------------------


def rounded(p: Place) -> Construct:
    t = p.name
    form = p.one_of(
        f"wp.round({t} * {p.c(4.0)}) / {p.c(4.0)}",
        f"wp.floor({t} * {p.c(3.0)}) * {p.c(0.4)}",
        f"{p.real}(int({t} * {p.c(5.0)})) * {p.c(0.2)}",
        f"wp.where({t} > {p.c(0.7)}, {p.c(1.0)}, {p.c(0.2)})",
        f"wp.sign({t} - {p.c(0.7)})",
        f"wp.ceil({t} * {p.c(3.0)}) * {p.c(0.3)}",
    )
    body = (f"{t} = {p.start()} * {p.factor()}", f"{t}_flat = {form}{_FLAT}")
    return Construct("flat", body, f"{t}_flat", alone=True)


FAMILIES = (
    Family("RG408", (masked, masked_quotient), (branched,)),
    Family("RG409", (root_at_zero, norm_at_zero), (guarded,)),
    Family("RG411", (racing,)),
    Family("RG501", (rounded,), verdict="right"),
)
