"""Writes generated programs to look at: `python -m tests.properties.generate --seed 7 --plant RG101 --out DIR`."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from tests.properties.emitter import emit
from tests.properties.faults.catalogue import FAULTS, plants
from tests.properties.generator import generate


def main() -> None:
    """Write one right program, or the first plants of one cause."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--plant", choices=sorted(FAULTS))
    parser.add_argument("--count", type=int, default=1, help="number of plants, of which some may change no gradient")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.plant is None:
        sources = {f"right_{options.seed}": emit(generate(options.seed))}
    else:
        found = islice(plants(options.plant, options.seed), options.count)
        sources = {f"{options.plant}_{options.seed}_{k}": emit(plant.program) for k, plant in enumerate(found)}
    for name, source in sources.items():
        path = options.out / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
