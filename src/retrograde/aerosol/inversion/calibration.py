"""Sets the few numbers of a loss law from scans kept apart for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.inversion.case import Case, air_of
from retrograde.aerosol.inversion.errors import Reach
from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.jacobian import Columns
from retrograde.aerosol.inversion.levenberg_marquardt import Progress
from retrograde.aerosol.inversion.loss_laws import ENHANCEMENT, FORMS, RATES, CalibratedLoss
from retrograde.aerosol.inversion.minima import FIRST_STRENGTH
from retrograde.aerosol.inversion.prescribed import Prescribed
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.settings import Settings

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_ITERATIONS = 30
_STEP = 1e-3
_ENHANCEMENT_SPREAD = 1.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """A calibrated law and how well it describes its window.

    Attributes:
        loss: The law, its numbers and their covariance.
        iterations: Iterations of the fit.
        is_converged: Whether the fit came to rest.
        scans: Scans that were used.
        measured: Total number of each [m^-3], shape [scans].
        fitted: The same by the model [m^-3], shape [scans].
        prior_share: Share of each number that was guessed rather than seen in the window [1], shape [names].
    """

    loss: CalibratedLoss
    iterations: int
    is_converged: bool
    scans: Ints
    measured: Floats
    fitted: Floats
    prior_share: Floats

    @property
    def deviation(self) -> float:
        """Root mean square of fitted over measured numbers, less one [1]."""
        return float(np.sqrt(np.mean((self.fitted / self.measured - 1.0) ** 2)))


def calibrate(
    observations: Observations,
    scans: Ints,
    law: str,
    settings: Settings,
    *,
    enhancement: bool = False,
    progress: Progress | None = None,
) -> Calibration:
    """Fit a law to some scans, together with the aerosol that the first of them saw.

    Unknown are the spectrum at the first scan's start and the law's numbers; all scans are fitted at
    once by Gauss and Newton's method with damping. The numbers have a weak prior, in the logarithm
    where they are positive, so that what the window does not tell stays near its guess.

    Args:
        observations: The file.
        scans: Indices of the scans, at least three.
        law: Name of the law.
        settings: Air, particles, sizes and errors.
        enhancement: Whether a factor on the coagulation kernel is calibrated too.
        progress: Told of every iteration.

    Raises:
        ValueError: There are too few scans, or the number does not fall in them.
    """
    if scans.size < 3:
        raise ValueError(f"a calibration needs at least 3 scans, and there are {scans.size} in its window")
    return _Fit(observations, scans, law, settings, enhancement, progress).run()


class _Fit:
    """One calibration in progress."""

    def __init__(
        self,
        observations: Observations,
        scans: Ints,
        law: str,
        settings: Settings,
        enhancement: bool,
        progress: Progress | None,
    ) -> None:
        self.observations, self.scans, self.progress = observations, scans, progress
        temperature, pressure = air_of(observations, scans, settings)
        loss, self.spread = _guess(observations, scans, law, enhancement)
        prescribed = Prescribed(temperature, pressure, settings.density, loss)
        nothing = np.zeros(0, dtype=np.intp)
        at: Any = observations.start[scans[0]]
        self.case = Case(observations, at, scans, settings, prescribed, nothing)
        self.problem = self.case.problem()
        self.first = loss.coordinates()

    def run(self) -> Calibration:
        problem, case = self.problem, self.case
        x = problem.unknown.from_spectrum(case.first_guess() / case.grid.ln_widths)
        theta: Floats = self.first.copy()
        damping, converged, iteration = 1e-2, False, 0
        value = self._objective(x, theta)
        for iteration in range(1, _ITERATIONS + 1):
            jacobian, residual = self._linear(x, theta)
            hessian, gradient = self._normal(jacobian, residual, x, theta)
            fall = 0.0
            while fall <= 0.0 and damping < 1e8:
                step: Any = np.linalg.solve(hessian + damping * np.diag(np.diagonal(hessian)), -gradient)
                step = step * min(1.0, 1.5 / float(np.abs(step).max()))
                new_value = self._objective(x + step[: x.size], theta + step[x.size :])
                if new_value < value:
                    fall, value = value - new_value, new_value
                    x, theta = x + step[: x.size], theta + step[x.size :]
                damping *= 0.2 if fall > 0.0 else 4.0
            if self.progress is not None:
                self.progress(f"calibration, iteration {iteration}: objective {value:.6g}")
            if fall <= 1e-5 * (1.0 + value):
                converged = True
                break
        return self._result(x, theta, iteration, converged)

    def _at(self, theta: Floats) -> Problem:
        """The problem under a law with these numbers, on the same times."""
        loss = self._loss().at(theta)
        prescribed = replace(self.case.prescribed, loss=loss)
        simulation = prescribed.simulation(self.case.grid, self.problem.simulation.times, 1)
        return self.problem.with_simulation(simulation)

    def _loss(self) -> CalibratedLoss:
        loss = self.case.prescribed.loss
        assert loss is not None
        return loss

    def _objective(self, x: Floats, theta: Floats) -> float:
        predicted, valid = Evaluation(self._at(theta), 1).predict(x[None])
        if not valid[0]:
            return np.inf
        residual = self.problem.whitening @ (predicted[0] - self.problem.measured)
        rough = self.problem.roughness @ x
        apart = (theta - self.first) / self.spread
        return 0.5 * float(residual @ residual + FIRST_STRENGTH * rough @ rough + apart @ apart)

    def _linear(self, x: Floats, theta: Floats) -> tuple[Floats, Floats]:
        """Whitened Jacobian to the spectrum and the law's numbers, and whitened residual."""
        here = self._at(theta)
        predicted = Evaluation(here, 1).predict(x[None])[0][0]
        of_x = Columns(here, 1).whitened(x[None])[0]
        columns: list[Floats] = []
        for k in range(theta.size):
            step = _STEP * np.eye(theta.size)[k]
            up, down = (Evaluation(self._at(theta + s), 1).predict(x[None])[0][0] for s in (step, -step))
            columns.append(self.problem.whitening @ (up - down) / (2.0 * _STEP))
        return np.column_stack([of_x, *columns]), self.problem.whitening @ (predicted - self.problem.measured)

    def _prior(self) -> Floats:
        knots = self.problem.knots
        prior = np.zeros((knots + self.first.size,) * 2)
        prior[:knots, :knots] = FIRST_STRENGTH * self.problem.roughness.T @ self.problem.roughness
        prior[knots:, knots:] = np.diag(1.0 / self.spread**2)
        return prior

    def _normal(self, jacobian: Floats, residual: Floats, x: Floats, theta: Floats) -> tuple[Floats, Floats]:
        prior = self._prior()
        gradient = jacobian.T @ residual + prior @ np.concatenate([x, theta - self.first])
        return jacobian.T @ jacobian + prior, gradient

    def _share(self, inverse: Floats) -> Floats:
        """Share of each number's variance that its prior has left it [1]."""
        variance = np.array([inverse[k, k] for k in range(self.problem.knots, len(inverse))])
        return np.minimum(variance / self.spread**2, 1.0)

    def _result(self, x: Floats, theta: Floats, iterations: int, converged: bool) -> Calibration:
        jacobian, _ = self._linear(x, theta)
        inverse: Any = np.linalg.inv(jacobian.T @ jacobian + self._prior())
        gain = inverse @ jacobian.T @ self.problem.whitening
        channels = self.case.channels(self.scans)
        modes = self.case.modes(channels).reaching(Reach.MODEL).summed(self.case.joining(channels))
        shared = (gain @ modes.values)[x.size :]
        covariance: Floats = inverse[x.size :, x.size :] + shared @ shared.T
        window = tuple(str(self.observations.start[i].astype("datetime64[s]")) for i in (self.scans[0], self.scans[-1]))
        loss = replace(self._loss().at(theta), covariance=covariance, window=window, source=self.observations.source)
        here = self._at(theta)
        states = Evaluation(here, 1).trajectory(x[None])
        predicted = self.case.operator(here.simulation, channels).apply(states)[0]
        totals = [[float(v[channels.scans == s].sum()) for s in self.scans] for v in (channels.number, predicted)]
        return Calibration(
            loss, iterations, converged, self.scans, np.array(totals[0]), np.array(totals[1]), self._share(inverse)
        )


def _guess(observations: Observations, scans: Ints, law: str, enhancement: bool) -> tuple[CalibratedLoss, Floats]:
    """The law before the fit, and how far its numbers may be from it."""
    total = np.nansum(observations.number[scans], axis=1)
    elapsed = (observations.start[scans] - observations.start[scans[0]]) / np.timedelta64(1, "s")
    slope: Any = np.polyfit(elapsed, np.log(np.maximum(np.asarray(total, dtype=np.float64), 1.0)), 1)
    decay = -float(slope[0])
    if decay <= 0.0:
        raise ValueError("the number does not fall in the calibration's window, and no loss can be seen there")
    parameters = FORMS[law].parameters
    values = {p.name: p.guess * (decay if p.name in RATES else 1.0) for p in parameters}
    spread = [p.spread for p in parameters]
    names = [p.name for p in parameters]
    if enhancement:
        values[ENHANCEMENT] = 1.0
        names.append(ENHANCEMENT)
        spread.append(_ENHANCEMENT_SPREAD)
    return CalibratedLoss(law, values, tuple(names), np.diag(np.array(spread) ** 2)), np.array(spread)
