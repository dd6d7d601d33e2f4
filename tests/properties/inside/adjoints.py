"""Faults in what the program says of its own derivatives: RG404, RG405, RG406, RG407."""

from __future__ import annotations

from collections.abc import Sequence

from tests.properties.inside.constructs import Construct, Family, Make, Place, indented

_VALUE, _ASSIGNS, _COUNTS, _NATIVE = "  # <- RG404", "  # <- RG405", "  # <- RG406", "  # <- RG407"


def _function(p: Place, name: str, arguments: Sequence[str], body: Sequence[str]) -> str:
    return "\n".join(["@wp.func", f"def {name}({', '.join(arguments)}):", *indented(list(body))])


def _adjoint(p: Place, name: str, arguments: Sequence[str], body: Sequence[str], mark: str) -> str:
    head = f"def adj_{name}({', '.join([*arguments, f'adj_ret: {p.real}'])}):{mark}"
    return "\n".join([f"@wp.func_grad({name})", head, *indented(list(body))])


# -- RG404 ---------------------------------------------------------------------------------------------


def _scalars(p: Place, wrong: str) -> Construct:
    """`a * b * b + c sin(a)`, with its derivatives."""
    name, c = f"{p.name}_react", p.any()
    arguments = [f"a: {p.real}", f"b: {p.real}"]
    of_a, of_b = f"(b * b + {c} * wp.cos(a))", f"{p.c(2.0)} * a * b"
    sign = "-=" if wrong == "sign" else "+="
    factor = f"{p.c(0.5)} * " if wrong == "factor" else ""
    lines = [f"wp.adjoint[a] {sign} {factor}{of_a} * adj_ret", f"wp.adjoint[b] += {of_b} * adj_ret"]
    if wrong == "branch":
        lines[0:1] = [
            f"if a > {p.c(0.1)}:",
            *indented(["wp.adjoint[a] += b * b * adj_ret"]),
            "else:",
            *indented([lines[0]]),
        ]
    if wrong == "missing argument":
        del lines[int(p.rng.integers(2))]
    functions = (
        _function(p, name, arguments, [f"return a * b * b + {c} * wp.sin(a)"]),
        _adjoint(p, name, arguments, lines, _VALUE if wrong else ""),
    )
    return Construct(f"custom adjoint, {wrong or 'right'}", (), f"{name}({p.x}, {p.y})", functions)


def _of_vector(p: Place, wrong: str) -> Construct:
    name, kind = f"{p.name}_energy", f"wp.vec3{p.suffix}"
    arguments = [f"v: {kind}", f"k: {p.real}", "m: int"]
    value = f"return k * wp.dot(v, v) + {p.real}(m) * v[0]"
    sign = "-=" if wrong == "sign" else "+="
    factor = p.c(1.0 if wrong == "factor" else 2.0)
    lines = [
        f"wp.adjoint[v] {sign} adj_ret * ({factor} * k * v + {p.real}(m) * {kind}({p.c(1.0)}, {p.c(0.0)}, {p.c(0.0)}))",
        "wp.adjoint[k] += adj_ret * wp.dot(v, v)",
    ]
    if wrong == "missing argument":
        lines.pop()
    functions = (_function(p, name, arguments, [value]), _adjoint(p, name, arguments, lines, _VALUE if wrong else ""))
    value = f"{p.c(0.3)} * {name}({kind}({p.x}, {p.y}, {p.x} * {p.y}), {p.factor()}, {p.turns})"
    return Construct(f"custom adjoint of a vector, {wrong or 'right'}", (), value, functions)


def _of_element(p: Place, wrong: str) -> Construct:
    """A function that reads an array's element itself."""
    name, ndim = f"{p.name}_at", p.here.count(",") + 1
    indices = [f"k{n}" for n in range(ndim)]
    element = f"field[{', '.join(indices)}]"
    arguments = [f"field: wp.array(dtype={p.real}, ndim={ndim})", *(f"{k}: int" for k in indices), f"b: {p.real}"]
    factor = p.c(1.0 if wrong else 2.0)
    functions = (
        _function(p, name, arguments, [f"return {element} * {element} * wp.sin(b)"]),
        _adjoint(
            p,
            name,
            arguments,
            [
                f"wp.adjoint[field][{', '.join(indices)}] += {factor} * {element} * wp.sin(b) * adj_ret",
                f"wp.adjoint[b] += {element} * {element} * wp.cos(b) * adj_ret",
            ],
            _VALUE if wrong else "",
        ),
    )
    body = (f"{p.out}[{p.here}] = {p.start()}",)
    value = f"{name}({p.out}, {p.here}, {p.y})"
    return Construct(f"custom adjoint of an element, {wrong or 'right'}", body, value, functions, in_kernel=True)


def _native(p: Place, wrong: str) -> Construct:
    name, c = f"{p.name}_native", round(float(p.rng.uniform(0.3, 0.9)), 2)
    n = (lambda v: repr(v)) if p.double else (lambda v: f"{v!r}f")
    of_a = f"({n(2.0)} * {n(c)} * a * b)"
    of_b = f"({n(c)} * a * a + {n(1.0)})"
    sign = "-=" if wrong == "sign" else "+="
    factor = f"{n(0.5)} * " if wrong == "factor" else ""
    lines = [f"adj_a {sign} {factor}{of_a} * adj_ret;", f"adj_b += {of_b} * adj_ret;"]
    if wrong == "missing argument":
        del lines[int(p.rng.integers(2))]
    function = "\n".join(
        [
            f'@wp.func_native("return {n(c)} * a * a * b + b;", adj_snippet="{" ".join(lines)}")',
            f"def {name}(a: {p.real}, b: {p.real}) -> {p.real}: ...{_VALUE if wrong else ''}",
        ]
    )
    return Construct(f"adjoint snippet, {wrong or 'right'}", (), f"{name}({p.x}, {p.y})", (function,))


def _replayed(p: Place, wrong: str) -> Construct:
    """A function whose replay returns another value, and whose result is used nonlinearly."""
    name, c = f"{p.name}_held", p.any()
    arguments = [f"a: {p.real}"]
    other = f"return {p.c(0.5)} * wp.sin(a) + {c}" if wrong else f"return wp.sin(a) + {c}"
    functions = (
        _function(p, name, arguments, [f"return wp.sin(a) + {c}"]),
        "\n".join(
            [
                f"@wp.func_replay({name})",
                f"def replay_{name}({arguments[0]}):{_VALUE if wrong else ''}",
                *indented([other]),
            ]
        ),
    )
    body = (f"{p.name} = {name}({p.x})",)
    return Construct(f"replay, {wrong or 'right'}", body, f"{p.name} * {p.name} * {p.factor(p.y)}", functions)


def _through_grad(p: Place, wrong: str) -> Construct:
    """A custom adjoint that takes `wp.grad` of a built-in, at the wrong point or with the wrong factor."""
    name, c = f"{p.name}_wave", p.any()
    arguments = [f"a: {p.real}"]
    at = f"{p.c(0.5)} * a" if wrong == "point" else "a"
    factor = p.c(2.0 if wrong == "factor" else 1.0)
    slope = f"({factor} * wp.grad(wp.sin)({at}) * a + wp.sin(a))"
    functions = (
        _function(p, name, arguments, [f"return wp.sin(a) * a + {c}"]),
        _adjoint(p, name, arguments, [f"wp.adjoint[a] += {slope} * adj_ret"], _VALUE if wrong else ""),
    )
    return Construct(f"wp.grad, {wrong or 'right'}", (), f"{name}({p.x}) * {p.factor(p.y)}", functions)


def _variants(make: object, *wrong: str) -> tuple[Make, ...]:
    return tuple(lambda p, w=w: make(p, w) for w in wrong)  # pyright: ignore


# -- RG405 ---------------------------------------------------------------------------------------------


def _assigning(p: Place, wrong: bool) -> Construct:
    name, c = f"{p.name}_push", p.any()
    arguments = [f"a: {p.real}", f"b: {p.real}"]
    sign, mark = ("=", _ASSIGNS) if wrong else ("+=", "")
    lines = [f"wp.adjoint[a] {sign} (b + {p.c(2.0)} * {c} * a) * adj_ret{mark}", "wp.adjoint[b] += a * adj_ret"]
    if p.rng.random() < 0.5:
        lines.reverse()
    functions = (
        _function(p, name, arguments, [f"return a * b + {c} * a * a"]),
        _adjoint(p, name, arguments, lines, ""),
    )
    value = f"{name}({p.x}, {p.y}) + wp.sin({p.x}) * {p.factor()}"
    return Construct("assigned" if wrong else "added", (), value, functions)


def _assigning_vector(p: Place, wrong: bool) -> Construct:
    name, kind = f"{p.name}_drag", f"wp.vec2{p.suffix}"
    v = f"{p.name}_v"
    sign, mark = ("=", _ASSIGNS) if wrong else ("+=", "")
    functions = (
        _function(p, name, [f"v: {kind}"], ["return wp.dot(v, v)"]),
        _adjoint(p, name, [f"v: {kind}"], [f"wp.adjoint[v] {sign} {p.c(2.0)} * adj_ret * v{mark}"], ""),
    )
    body = (f"{v} = {kind}({p.x}, {p.factor()})",)
    return Construct(
        "assigned, a vector" if wrong else "added, a vector", body, f"{name}({v}) + {v}[0] * {v}[1]", functions
    )


# -- RG406 ---------------------------------------------------------------------------------------------


def _counting(p: Place, wrong: bool) -> Construct:
    name = f"{p.name}_next"
    kind = "wp.array(dtype=int)"
    functions = [
        "\n".join(
            [
                "@wp.func",
                f"def {name}(counter: {kind}, kept: {kind}, k: int):",
                *indented(["n = wp.atomic_add(counter, 0, 1)", "kept[k] = n", "return n"]),
            ]
        )
    ]
    if not wrong:
        functions.append(
            "\n".join(
                [
                    f"@wp.func_replay({name})",
                    f"def replay_{name}(counter: {kind}, kept: {kind}, k: int):",
                    *indented(["return kept[k]"]),
                ]
            )
        )
    slot = f"{p.name}_slot"
    mark = _COUNTS if wrong else ""
    body = (
        f"{slot} = {name}({p.counter}, kept, thread){mark}",
        f"listed[{slot}] = {p.start()} * {p.factor()}",
    )
    route = "a counter in a function" if wrong else "a counter with a replay"
    return Construct(route, body, f"listed[{slot}] * {p.y}", tuple(functions), in_kernel=True)


def counted_in_branch(p: Place) -> Construct:
    made = _counting(p, True)
    slot = f"{p.name}_slot"
    body = (
        f"{slot} = int(0)",
        f"{p.name} = {p.c(0.4)} * {p.x}",
        f"if {p.x} > {p.c(0.1)}:",
        *indented([made.body[0], made.body[1], f"{p.name} = listed[{slot}] * {p.y}"]),
    )
    return Construct("a counter in a branch", body, p.name, made.functions, in_kernel=True)


# -- RG407 ---------------------------------------------------------------------------------------------


def native_without(p: Place) -> Construct:
    name, c = f"{p.name}_native", round(float(p.rng.uniform(0.3, 0.9)), 2)
    n = (lambda v: repr(v)) if p.double else (lambda v: f"{v!r}f")
    snippet = p.one_of(f"return {n(c)} * a * a + {n(0.5)} * a * b;", f"return sin(a) * b + {n(c)} * a;")
    function = "\n".join(
        [
            f'@wp.func_native("{snippet}")',
            f"def {name}(a: {p.real}, b: {p.real}) -> {p.real}: ...{_NATIVE}",
        ]
    )
    return Construct("native code", (), f"{name}({p.x}, {p.y})", (function,))


FAMILIES = (
    Family(
        "RG404",
        (
            *_variants(_scalars, "factor", "sign", "branch", "missing argument"),
            *_variants(_of_vector, "factor", "sign", "missing argument"),
            *_variants(_of_element, "factor"),
            *_variants(_native, "factor", "sign", "missing argument"),
            *_variants(_replayed, "another value"),
            *_variants(_through_grad, "point", "factor"),
        ),
        tuple(
            m for f in (_scalars, _of_vector, _of_element, _native, _replayed, _through_grad) for m in _variants(f, "")
        ),
    ),
    Family(
        "RG405",
        (lambda p: _assigning(p, True), lambda p: _assigning_vector(p, True)),
        (lambda p: _assigning(p, False), lambda p: _assigning_vector(p, False)),
    ),
    Family("RG406", (lambda p: _counting(p, True), counted_in_branch), (lambda p: _counting(p, False),)),
    Family("RG407", (native_without,), _variants(_native, "")),
)
