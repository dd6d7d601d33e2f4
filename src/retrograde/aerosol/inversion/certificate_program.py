"""The program that the auditor runs: an inversion's own objective and gradient, and two steps downhill.

Its forward and backward passes are those of the solvers, on the problem that the inversion solved.
The argument is a file that `write_certificate_input` wrote.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.aerosol._device import new_zeros, to_device, wp
from retrograde.aerosol.inversion.certificate import descend, largest_of, read_certificate_input
from retrograde.aerosol.inversion.evaluation import Evaluation

_ITERATIONS = 2
_STEP = 1e-3


def main(path: Path) -> None:
    """Run two iterations of gradient descent on the problem of a file."""
    if hasattr(wp, "LOG_ERROR"):
        wp.config.log_level = wp.LOG_ERROR
    problem, start, strength = read_certificate_input(path)
    ln_spectrum: Any = to_device(start[None], requires_grad=True)
    measured, strengths = to_device(problem.measured[None]), to_device(np.array([strength]))
    one = to_device(np.ones(1))
    rate = 0.0
    for evaluation in [Evaluation(problem, 1) for _ in range(_ITERATIONS)]:
        with wp.Tape() as tape:
            objective, _ = evaluation.on_tape(ln_spectrum, measured, strengths)
        tape.backward(grads={objective: one})
        if rate == 0.0:
            largest: Any = new_zeros(1)
            wp.launch(largest_of, ln_spectrum.shape, inputs=[ln_spectrum.grad], outputs=[largest])
            rate = _STEP / float(largest.numpy()[0])
        wp.launch(descend, ln_spectrum.shape, inputs=[ln_spectrum, ln_spectrum.grad, wp.float64(rate)])
        tape.zero()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
