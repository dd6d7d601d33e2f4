"""Measures again, by differences of the program itself, the derivatives that the report is about.

    python differences.py                   # all of them
    python differences.py NAME [ITERATION]  # those of one parameter

It needs numpy, warp and the program, and nothing of the tool that wrote it. `plan.json` beside it says where the
parameter is first read and where the objective is; `arrays.npz` holds the parameter's contents and the directions.

Each value of the objective is had in a process of its own: the program runs from its beginning; just before the
call that first reads the parameter, contents + t * direction is written into it; where the backward pass begins that
differentiates the objective, the objective is read, and the process ends. The slope along the direction is then
(f(h) - f(-h)) / 2h, at two steps h, and extrapolated to h = 0.
"""

import ctypes
import json
import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
REPORTED = ("reference", "error", "consumed")


# -- what is measured ----------------------------------------------------------------------------------


def main(wanted):
    plan = json.loads((HERE / "plan.json").read_text())
    print(f"{'':44} {'measured again':>16} {'report':>14} {'error bar':>10} {'gradient used':>14}")
    results = []
    for number, entry in enumerate(plan["parameters"]):
        name = f"{entry['parameter']}, iteration {entry['iteration']}"
        if wanted and wanted != [entry["parameter"], str(entry["iteration"])][: len(wanted)]:
            continue
        if entry["obstacle"]:
            print(f"{name}: not measured again: {entry['obstacle']}.")
            continue
        for position, direction in enumerate(entry["directions"]):
            step = float(direction["step"])
            if not step > 0.0:
                continue
            slope = slope_along(number, position, step)
            reported = [float("nan" if direction[key] is None else direction[key]) for key in REPORTED]
            label = f"{name}, {direction['label']}"
            print(
                f"{label:44.44} {slope:16.8g} {reported[0]:14.8g} {reported[1]:10.1g} {reported[2]:14.8g}", flush=True
            )
            results.append({"parameter": entry["parameter"], "iteration": entry["iteration"],
                            "label": direction["label"], "slope": slope})  # fmt: skip
    (HERE / "measured.json").write_text(json.dumps(results, indent=1))


def slope_along(number, position, step):
    """The derivative along one direction: central differences at two steps, extrapolated."""
    turns = [step, -step, 2.0 * step, -2.0 * step]
    with tempfile.TemporaryDirectory() as folder:
        running = [start(number, position, turn, Path(folder) / str(i)) for i, turn in enumerate(turns)]
        values = [finish(process, path) for process, path in running]
    near = (values[0] - values[1]) / (2.0 * step)
    far = (values[2] - values[3]) / (4.0 * step)
    return (4.0 * near - far) / 3.0


def start(number, position, turn, path):
    command = [
        sys.executable,
        str(HERE / "differences.py"),
        "--value",
        str(number),
        str(position),
        repr(turn),
        str(path),
    ]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL), path


def finish(process, path):
    if process.wait() != 0 or not path.exists():
        raise SystemExit("The program did not come to its objective; what it said is above.")
    return float(path.read_text())


# -- one value, in a process of its own ----------------------------------------------------------------


class Run:
    """One run of the program, with the parameter moved along a direction."""

    def __init__(self, number, position, turn, path):
        plan = json.loads((HERE / "plan.json").read_text())
        self.program = plan["program"]
        self.entry = plan["parameters"][number]
        self.number, self.path = number, Path(path)
        self.arrays = np.load(HERE / "arrays.npz")
        contents = self.arrays[f"{number}.contents"] + turn * self.arrays[f"{number}.{position}.direction"]
        self.moved = contents.astype(self.entry["dtype"])
        self.inside = 0  # calls that Warp makes of itself are not the program's
        self.count = {"launch": 0, "numpy": 0, "backward": 0}
        self.total = 0.0

    def observe(self):
        """Be told of the calls that matter, before they run."""
        import warp as wp

        def nothing(*args, **options):
            pass

        for owner, name, before in (
            (wp, "launch", self.before_launch),
            (wp.array, "numpy", self.before_numpy),
            (wp.Tape, "backward", self.before_backward),
            (wp.Tape, "zero", nothing),
            (wp.Tape, "reset", nothing),
            (wp.array, "assign", nothing),
            (wp.array, "__init__", nothing),
        ):
            setattr(owner, name, self.told(getattr(owner, name), before))

    def told(self, original, before):
        def call(*args, **kwargs):
            if self.inside == 0:
                before(*args, **kwargs)
            self.inside += 1
            try:
                return original(*args, **kwargs)
            finally:
                self.inside -= 1

        return call

    def is_first_read(self, call):
        self.count[call] += 1
        return call == self.entry["call"] and self.count[call] == self.entry["number"]

    def before_launch(self, kernel, dim, inputs=(), outputs=(), *args, **options):
        if options.get("adjoint") or options.get("record_cmd") or not self.is_first_read("launch"):
            return
        if kernel.key != self.entry["kernel"]:
            raise SystemExit(f"Launch {self.entry['number']} is of {kernel.key}, not of {self.entry['kernel']}.")
        argument = [*inputs, *outputs][self.entry["position"]]
        for field in self.entry["fields"]:
            argument = getattr(argument, field)
        write(argument, self.entry, self.moved)

    def before_numpy(self, array):
        if self.is_first_read("numpy"):
            write(array, self.entry, self.moved)

    def before_backward(self, tape, loss=None, grads=None):
        self.count["backward"] += 1
        readings = self.entry["readings"]
        for part, reading in enumerate(readings):
            if reading["backward"] == self.count["backward"]:
                self.total += self.objective(part, reading["weights"], loss, grads)
        if self.count["backward"] >= max(reading["backward"] for reading in readings):
            self.path.write_text(repr(self.total))
            os._exit(0)

    def objective(self, part, weights, loss, grads):
        """The loss, or the seeded arrays weighted by their seeds."""
        if weights == 0:
            return float(self.contents_of(loss).sum())
        seeds = [self.arrays[f"{self.number}.weights.{part}.{i}"] for i in range(weights)]
        return sum(float(np.vdot(w, self.contents_of(a))) for w, a in zip(seeds, grads, strict=True))

    def contents_of(self, array):
        self.inside += 1
        try:
            return array.numpy().astype(np.float64)
        finally:
            self.inside -= 1


def write(array, entry, values):
    """Write values into the parameter, which may begin elsewhere than the array that was handed over."""
    address = array.ptr + entry["offset"]
    size = sum((n - 1) * s for n, s in zip(values.shape, entry["strides"], strict=True)) + values.itemsize
    if not array.device.is_cpu:
        import warp as wp

        device = wp.array(ptr=address, shape=(size,), dtype=wp.uint8, device=array.device)
        host = device.numpy()
        np.ndarray(values.shape, values.dtype, host, strides=entry["strides"])[...] = values
        wp.copy(device, wp.array(host, dtype=wp.uint8, device="cpu"))
        return
    memory = (ctypes.c_ubyte * size).from_address(address)
    np.ndarray(values.shape, values.dtype, memory, strides=entry["strides"])[...] = values


def run(program):
    """Run the program as `python` runs it."""
    os.chdir(program["folder"])
    sys.argv = [program["script"] or program["module"], *program["args"]]
    if program["module"]:
        sys.path[0] = program["folder"]
        runpy.run_module(program["module"], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(program["script"]).resolve().parent)
        runpy.run_path(program["script"], run_name="__main__")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--value"]:
        once = Run(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), sys.argv[5])
        once.observe()
        run(once.program)
        raise SystemExit("The program ended before its objective.")
    else:
        main(sys.argv[1:])
