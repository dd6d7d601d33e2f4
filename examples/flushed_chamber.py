"""How far back can a flushed chamber be traced? Inversions from 2.5 to 15 minutes after the scan that they recover.

A small chamber was filled with particles and flushed. An instrument scanned it every 2.5 minutes. The
scan of 14:12:20 is kept apart; the first scan that an inversion uses moves away from it, and the loss
law is calibrated on the scans after that one. Every row compares with what the instrument had measured.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from retrograde.aerosol.formats.reading import read
from retrograde.aerosol.inversion import Case, Prescribed, Recovery, Settings, calibrate, recover
from retrograde.aerosol.inversion.case import air_of

FIRST = np.datetime64("2017-06-12T14:12:20")
LEADS = (1, 2, 3, 4, 6)


# --8<-- [start:recover]
def recover_from(path: Path, lead: int, settings: Settings) -> Recovery:
    """Recover the first scan from the one `lead` scans later, with a loss calibrated on those after it."""
    scans = read(path, date_order="month first")
    scans = scans.select(FIRST)
    loss = calibrate(scans, np.arange(lead + 1, scans.scans), "power-law", settings).loss
    seen, between = np.array([lead]), np.arange(lead)
    temperature, pressure = air_of(scans, seen, settings)
    prescribed = Prescribed(temperature, pressure, settings.density, loss)
    return recover(Case(scans, scans.start[0], seen, settings, prescribed, between), held_out=0)


# --8<-- [end:recover]


def main(path: Path) -> None:
    """Print one row for every distance."""
    settings = Settings(starts=1, ensemble=0)
    print("            number [%]                          shape L1")
    print("minutes  recovered without  undone  as seen  recovered without  undone  as seen  coverage       p")
    for lead in LEADS:
        result = recover_from(path, lead, settings)
        held_out = result.held_out
        assert held_out is not None
        rows = (held_out.recovered, *held_out.baselines)
        numbers = "".join(f"{100 * c.number_error:9.1f}" for c in rows)
        shapes = "".join(f"{c.shape_l1:9.3f}" for c in rows)
        print(f"{2.5 * lead:7.1f}{numbers}{shapes}{held_out.coverage:9.2f}{result.adequacy.p:9.2g}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("flushed_chamber.csv"))
