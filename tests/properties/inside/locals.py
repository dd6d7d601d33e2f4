"""Faults in how a kernel computes with its locals and its elements: RG401, RG402, RG403."""

from __future__ import annotations

from dataclasses import replace

from tests.properties.inside.constructs import Construct, Family, Place, indented

_PRODUCT, _TWICE, _LOOP = "  # <- RG401", "  # <- RG402", "  # <- RG403"


# -- RG401 ---------------------------------------------------------------------------------------------


def product(p: Place) -> Construct:
    element, sign = f"{p.out}[{p.here}]", p.one_of("*=", "/=")
    body = (f"{element} = {p.start()}", f"{element} {sign} {p.factor()}{_PRODUCT}")
    return Construct("product in place", body, element, in_kernel=True)


def product_of_sums(p: Place) -> Construct:
    element, sign = f"{p.out}[{p.here}]", p.one_of("*=", "/=")
    body = (
        f"{element} += {p.start()}",
        f"{element} += {p.any()} * {p.x} * {p.x}",
        f"{element} {sign} {p.factor()}{_PRODUCT}",
        f"{element} += {p.y} * {p.y}",
    )
    return Construct("product among sums in place", body, element, in_kernel=True)


def product_in_branch(p: Place) -> Construct:
    element = f"{p.out}[{p.here}]"
    body = (
        f"{element} = {p.start()}",
        f"if {p.x} > {p.c(0.05)}:",
        *indented([f"{element} *= {p.factor()}{_PRODUCT}"]),
    )
    return Construct("product in place in a branch", body, element, in_kernel=True)


def product_in_loop(p: Place) -> Construct:
    element = f"{p.out}[{p.here}]"
    body = (
        f"{element} = {p.start()}",
        "for k in range(3):",
        *indented([f"{element} *= {p.factor()}{_PRODUCT}"]),
    )
    return Construct("product in place in a loop", body, element, in_kernel=True)


def product_in_function(p: Place) -> Construct:
    ndim = p.here.count(",") + 1
    kind = f"wp.array(dtype={p.real}, ndim={ndim})"
    indices = [f"k{n}" for n in range(ndim)]
    element = f"target[{', '.join(indices)}]"
    inside = Place(p.rng, p.double, p.here, p.threads, x="a", y="b")
    function = "\n".join(
        [
            "@wp.func",
            f"def {p.name}_scale(target: {kind}, {', '.join(f'{k}: int' for k in indices)}, a: {p.real}, b: {p.real}):",
            *indented([f"{element} = {inside.start()}", f"{element} *= {inside.factor()}{_PRODUCT}"]),
        ]
    )
    body = (f"{p.name}_scale({p.out}, {p.here}, {p.x}, {p.y})",)
    return Construct("product in place in a function", body, f"{p.out}[{p.here}]", (function,), in_kernel=True)


def product_in_a_local(p: Place) -> Construct:
    element = f"{p.out}[{p.here}]"
    body = (
        f"{p.name} = {p.start()}",
        f"{p.name} *= {p.factor()}",
        f"{p.name} /= {p.factor()}",
        f"{element} += {p.name}",
        f"{element} -= {p.any()} * {p.y}",
    )
    return Construct("product in a local", body, element, in_kernel=True)


# -- RG402 ---------------------------------------------------------------------------------------------


def vector_component(p: Place) -> Construct:
    n = int(p.rng.integers(2, 5))
    v, k = f"{p.name}_v", int(p.rng.integers(n))
    other = (k + 1) % n
    at = f"{v}[{k}]" if p.rng.random() < 0.7 or n == 4 else f"{v}.{'xyz'[k]}"
    again = p.one_of(
        f"{at} = {at} * {v}[{other}]", f"{at} *= {v}[{other}]", f"{at} = wp.sin({at}) + {at} * {v}[{other}]"
    )
    body = (
        f"{v} = wp.vec{n}{p.suffix}()",
        f"{v}[{other}] = {p.factor()}",
        f"{at} = {p.start()}",
        f"{again}{_TWICE}",
    )
    return Construct("vector component again", body, p.one_of(f"{v}[{k}]", f"wp.dot({v}, {v}) * {p.c(0.3)}"))


def matrix_component(p: Place) -> Construct:
    m = f"{p.name}_m"
    at = f"{m}[{int(p.rng.integers(2))}, {int(p.rng.integers(2))}]"
    body = (
        f"{m} = wp.mat22{p.suffix}({p.start()}, {p.c(0.3)}, {p.factor()}, {p.y})",
        f"{at} = {at} * {p.factor()} + {p.c(0.2)}",
        f"{at} = {at} * {at}{_TWICE}",
    )
    return Construct("matrix component again", body, p.one_of(f"wp.determinant({m})", f"{at} * {p.x}"))


def component_in_loop(p: Place) -> Construct:
    v = f"{p.name}_v"
    body = (
        f"{v} = wp.vec3{p.suffix}({p.x}, {p.c(0.4)}, {p.y})",
        "for k in range(3):",
        *indented([f"{v}[1] = {v}[1] * {v}[0] + {p.factor()}{_TWICE}"]),
    )
    return Construct("component in an unrolled loop", body, f"{v}[1] * {v}[2]")


def component_in_branch(p: Place) -> Construct:
    v = f"{p.name}_v"
    body = (
        f"{v} = wp.vec2{p.suffix}()",
        f"{v}[0] = {p.start()}",
        f"{v}[1] = {p.factor()}",
        f"if {v}[1] > {p.c(0.05)}:",
        *indented([f"{v}[0] = {v}[0] * {v}[0] * {v}[1]{_TWICE}"]),
    )
    return Construct("component in a branch", body, f"{v}[0]")


def components_once(p: Place) -> Construct:
    v = f"{p.name}_v"
    body = (
        f"{v} = wp.vec3{p.suffix}()",
        f"{v}[0] = {p.start()}",
        f"{v}[1] = {p.factor()}",
        f"{v}[2] = {p.x} * {p.y}",
    )
    return Construct("components assigned once", body, f"wp.dot({v}, {v}) * {p.c(0.3)}")


# -- RG403 ---------------------------------------------------------------------------------------------


def _bound(p: Place) -> str:
    return p.one_of(f"range({p.turns})", f"range(1, {p.turns} + 2)", f"range(0, 2 * {p.turns}, 2)")


def power_in_loop(p: Place) -> Construct:
    w = p.name
    step = p.one_of(
        f"{w} = {w} * {p.factor()}", f"{w} *= {p.factor()}", f"{w} = {p.c(0.4)} * wp.sin({w}) + {w} * {p.factor()}"
    )
    body = (f"{w} = {p.start()}", f"for k in {_bound(p)}:{_LOOP}", *indented([step]))
    return Construct("power in a loop", body, w)


def used_after_loop(p: Place) -> Construct:
    s = p.name
    body = (
        f"{s} = {p.real}({p.c(0.0)})",
        f"for k in {_bound(p)}:{_LOOP}",
        *indented([f"{s} = {s} + {p.any(0.2, 0.4)} * {p.factor()}"]),
    )
    return Construct(
        "a sum used nonlinearly", body, p.one_of(f"{s} * {p.x}", f"wp.sqrt({s} + {p.c(0.3)})", f"{p.y} / {s}")
    )


def vector_in_loop(p: Place) -> Construct:
    v = f"{p.name}_v"
    body = (
        f"{v} = wp.vec2{p.suffix}({p.x}, {p.y})",
        f"for k in {_bound(p)}:{_LOOP}",
        *indented(
            [f"{v} = wp.vec2{p.suffix}({v}[0] + {p.c(0.2)} * {v}[1] * {v}[1], {v}[1] - {p.c(0.2)} * wp.sin({v}[0]))"]
        ),
    )
    return Construct("a vector carried", body, f"{v}[0]")


def while_loop(p: Place) -> Construct:
    w, k = p.name, f"{p.name}_k"
    body = (
        f"{w} = {p.start()}",
        f"{k} = int(0)",
        f"while {k} < {p.turns}:{_LOOP}",
        *indented([f"{w} = {w} * {p.factor()}", f"{k} = {k} + 1"]),
    )
    return Construct("while", body, w)


def until_small(p: Place) -> Construct:
    w, rest = p.name, f"{p.name}_rest"
    body = (
        f"{w} = {p.start()}",
        f"{rest} = {p.real}({p.c(1.0)})",
        f"while {rest} > {p.c(0.13)}:{_LOOP}",
        *indented([f"{w} = {w} * {p.factor()}", f"{rest} = {rest} * {p.c(0.6)}"]),
    )
    return Construct("while on a number", body, w)


def left_early(p: Place) -> Construct:
    w = p.name
    jump = p.one_of("break", "continue")
    test = "k > 1" if jump == "break" else "k == 1"
    body = (
        f"{w} = {p.start()}",
        f"for k in range({p.turns} + 2):{_LOOP}",
        *indented([f"if {test}:", *indented([jump]), f"{w} = {w} * {p.factor()}"]),
    )
    return Construct(f"with {jump}", body, w)


def nested_loops(p: Place) -> Construct:
    w, inner = p.name, f"{p.name}_row"
    body = (
        f"{w} = {p.start()}",
        f"for k in range({p.turns}):{_LOOP}",
        *indented(
            [
                f"{inner} = {p.real}({p.c(1.0)})",
                f"for m in range({p.turns}):",
                *indented([f"{inner} = {inner} * {p.factor()}"]),
                f"{w} = wp.sin({w}) + {p.c(0.3)} * {inner}",
            ]
        ),
    )
    return Construct("nested loops", body, w)


def long_loop(p: Place) -> Construct:
    w = p.name
    bound = p.one_of("range(20)", f"range(20 * {p.turns})", "range(64)")
    body = (
        f"{w} = {p.start()}",
        f"for k in {bound}:{_LOOP}",
        *indented([f"{w} = {w} + {p.c(0.01)} * {w} * {p.factor()}"]),
    )
    return Construct("many turns", body, w)


def long_and_left_early(p: Place) -> Construct:
    w = p.name
    body = (
        f"{w} = {p.start()}",
        f"for k in range(30 * {p.turns}):{_LOOP}",
        *indented(["if k > 45:", *indented(["break"]), f"{w} = {w} + {p.c(0.01)} * {w} * {p.factor()}"]),
    )
    return Construct("many turns, left early", body, w)


def long_while(p: Place) -> Construct:
    w, k = p.name, f"{p.name}_k"
    body = (
        f"{w} = {p.start()}",
        f"{k} = int(0)",
        f"while {k} < 25 * {p.turns}:{_LOOP}",
        *indented([f"{w} = {w} + {p.c(0.01)} * {w} * {p.factor()}", f"{k} += 1"]),
    )
    return Construct("a long while", body, w)


def long_nested(p: Place) -> Construct:
    w, inner = p.name, f"{p.name}_row"
    body = (
        f"{w} = {p.start()}",
        f"for k in range(20 * {p.turns}):{_LOOP}",
        *indented(
            [
                f"{inner} = {p.c(0.1)} * {w}",
                f"for m in range({p.turns}):",
                *indented([f"{inner} = {inner} * {p.factor()}"]),
                f"{w} = {w} + {p.c(0.01)} * {inner}",
            ]
        ),
    )
    return Construct("long nested loops", body, w)


def plain_sum(p: Place) -> Construct:
    """A sum in a function that returns it as it is: what its caller does with it is differentiated rightly."""
    name, inside = f"{p.name}_sum", replace(p, x="a", y="b", turns="count")
    lines = [
        f"s = {p.real}({p.c(0.0)})",
        f"for k in {_bound(inside)}:",
        *indented([f"s = s + {p.any(0.2, 0.4)} * {inside.factor()}"]),
        "return s",
    ]
    head = f"def {name}(a: {p.real}, b: {p.real}, count: int):"
    function = "\n".join(["@wp.func", head, *indented(lines)])
    return Construct("a sum in a function", (), f"{name}({p.x}, {p.y}, {p.turns})", (function,))


def unrolled(p: Place) -> Construct:
    w = p.name
    body = (f"{w} = {p.start()}", "for k in range(4):", *indented([f"{w} = {w} * {p.factor()}"]))
    return Construct("an unrolled power", body, w)


FAMILIES = (
    Family(
        "RG401",
        (product, product_of_sums, product_in_branch, product_in_loop, product_in_function),
        (product_in_a_local,),
    ),
    Family("RG402", (vector_component, matrix_component, component_in_loop, component_in_branch), (components_once,)),
    Family(
        "RG403",
        (
            power_in_loop, used_after_loop, vector_in_loop, while_loop, until_small, left_early, nested_loops,
            long_loop, long_and_left_early, long_while, long_nested,
        ),
        (plain_sum, unrolled),
    ),
)  # fmt: skip
