"""What an inversion takes for granted, in sentences."""

from __future__ import annotations

import numpy as np

from retrograde.aerosol.inversion.case import DEFAULT_PRESSURE, DEFAULT_TEMPERATURE, Case
from retrograde.aerosol.inversion.errors import DIFFUSION_LOSS, MULTIPLE_CHARGE
from retrograde.aerosol.inversion.loss_laws import ENHANCEMENT, CalibratedLoss
from retrograde.aerosol.inversion.recovering import Recovery


def assumptions(recovery: Recovery) -> tuple[str, ...]:
    """Sentences about processes, air, particles, instrument and method."""
    case = recovery.case
    return (
        *_processes(case),
        *_air(case),
        *_particles(case),
        *_instrument(recovery),
        *_method(recovery),
        *(_sentence(note) for note in case.observations.notes),
    )


def describe_loss(loss: CalibratedLoss) -> str:
    """A law with its numbers, rates per hour."""
    units = {p.name: p.unit for p in loss.form.parameters} | {ENHANCEMENT: "1"}
    parts: list[str] = []
    for name, value in loss.values.items():
        rate = units[name] == "s^-1" and name != "eddy_coefficient"
        shown, unit = (
            (value * 3600.0, "/h") if rate else (value, {"1": "", "s^-1": "/s"}.get(units[name], f" {units[name]}"))
        )
        parts.append(f"{name.replace('_', ' ')} {shown:.4g}{unit}")
    return f"{loss.law} ({', '.join(parts)})"


def _processes(case: Case) -> list[str]:
    prescribed, loss = case.prescribed, case.prescribed.loss
    lines: list[str] = []
    if prescribed.coagulates:
        factor = f" times {prescribed.factor:.3g}" if prescribed.factor != 1.0 else ""
        lines.append(
            f"Particles coagulate by Fuchs' Brownian kernel{factor}, every encounter sticking; the kernel is known "
            f"to {100 * case.settings.errors.kernel:.0f} %."
        )
    else:
        lines.append("Particles do not coagulate.")
    if loss is None:
        lines.append("Nothing is lost to walls or by dilution.")
    else:
        how = f", calibrated on the scans of {loss.window[0]} to {loss.window[1]}" if loss.window[0] else ", as given"
        lines.append(f"The loss is prescribed: {describe_loss(loss)}{how}.")
    lines.append("Nothing enters, nucleates, condenses or evaporates; the air is well mixed.")
    return lines


def _air(case: Case) -> list[str]:
    settings, prescribed, observations = case.settings, case.prescribed, case.observations
    temperature = "given" if settings.temperature else "the file's"
    pressure = "given" if settings.pressure else "the file's"
    if not settings.temperature and observations.temperature is None:
        temperature = f"assumed, {DEFAULT_TEMPERATURE:g} K"
    if not settings.pressure and observations.pressure is None:
        pressure = f"assumed, {DEFAULT_PRESSURE:g} Pa"
    return [f"Air: {prescribed.temperature:.1f} K ({temperature}), {prescribed.pressure / 100:.1f} hPa ({pressure})."]


def _particles(case: Case) -> list[str]:
    density, stated = case.prescribed.density, case.observations.density
    lines = [f"Particles are spheres of {density:g} kg m^-3" + (f"; the file says {stated:g}." if stated else ".")]
    kind = case.observations.diameter_kind
    named = "diameter of unknown kind" if kind == "unknown" else f"{kind} diameter"
    lines.append(f"The {named} is taken for the volume diameter.")
    return lines


def _instrument(recovery: Recovery) -> list[str]:
    case, state = recovery.case, recovery.state
    modes = state.uncertainty.modes
    lines: list[str] = []
    slope = state.number @ state.unknown.basis / state.total
    for effect, name in ((MULTIPLE_CHARGE, "multiple charges"), (DIFFUSION_LOSS, "diffusion losses")):
        chosen = [k for k, n in enumerate(modes.names) if n == name]
        if chosen:
            size = float(np.linalg.norm(slope @ state.uncertainty.response[:, chosen]))
            said = "the file says" if effect in case.observations.not_corrected_for else "it is not known"
            said += (
                " that they were not corrected"
                if effect in case.observations.not_corrected_for
                else " whether they were corrected"
            )
            lines.append(f"{name.capitalize()}: {said}; they make {100 * size:.0f} % of the true number uncertain.")
    times, start = case.observations.times, case.observations.start
    if np.array_equal(times, np.broadcast_to(start[:, None], times.shape)):
        lines.append("Channel times are not known: every channel is taken to be measured at its scan's start.")
    else:
        lines.append("Each channel is compared at its own time within the scan.")
    return lines


def _method(recovery: Recovery) -> list[str]:
    case, adequacy, curve = recovery.case, recovery.adequacy, recovery.minimum.curve
    lines = [
        f"The spectrum's logarithm is smooth in ln D, with the strength {curve.strength:.3g} "
        f"({'given' if curve.rule == 'given' else 'by ' + curve.rule.replace('gcv', 'generalised cross-validation')}); "
        "sizes outside the measured ones are empty at the start."
    ]
    between = np.setdiff1d(case.watched, case.seen).size
    if between:
        lines.append(
            f"{between} scans that were not inverted serve to test the model, which is taken to leave out "
            f"{100 * adequacy.model_error:.0f} %."
        )
    elif adequacy.adequate is None:
        lines.append("One scan is all there is: whether the model holds could not be tested.")
    return lines


def _sentence(note: str) -> str:
    return note if note.endswith(".") else note + "."
