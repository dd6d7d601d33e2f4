"""A recovery as a CF dataset, and the recovered state from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from retrograde.aerosol.formats import from_xarray, series_to_xarray
from retrograde.aerosol.inversion.errors import ErrorModes, Reach
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.recovering import Recovery
from retrograde.aerosol.inversion.recovery import RecoveredState
from retrograde.aerosol.inversion.uncertainty import Uncertainty


def recovery_to_xarray(recovery: Recovery) -> xr.Dataset:
    """Dataset of a recovery: the state with its uncertainty, and measured and predicted values of all scans.

    `number_concentration` over size is the recovered number in each bin; its bounds hold
    `interval_level` of the probability, and are left out where the model was rejected.
    """
    state, case, seen = recovery.state, recovery.case, recovery.forecast
    dataset = series_to_xarray(state.number[None], state.grid).isel(box=0)
    known = state.uncertainty
    variables: dict[str, Any] = {
        "knot_diameter": (
            ("knot",),
            state.unknown.diameters,
            _about("m", "diameter of a knot of the unknown spectrum"),
        ),
        "ln_spectrum": (("knot",), state.x, _about("1", "ln(dN/dlnD / 1 m-3) at the knot")),
        "averaging_kernel": (
            ("knot", "true_knot"),
            known.averaging_kernel,
            _about("1", "averaging kernel (Rodgers 2000)"),
        ),
        "fit_covariance": (("knot", "true_knot"), known.fit_covariance, _about("1", "covariance by noise and prior")),
        "gain": (("knot", "value"), known.gain, _about("m3", "change of ln_spectrum by a change of a fitted value")),
        "error_mode": (("value", "mode"), known.modes.values, _about("m-3", "errors that fitted values share")),
        "error_name": (("mode",), np.array(known.modes.names, dtype="S64"), _about(None, "what the error is")),
        "error_reach": (
            ("mode",),
            np.array([r.name for r in known.modes.reaches], dtype="S16"),
            _about(None, "its reach"),
        ),
        "scan_start": (
            ("channel",),
            _seconds(recovery),
            {"units": f"seconds since {_time(case.at)}", "long_name": "start of the scan"},
        ),
        "channel_time": (
            ("channel",),
            seen.channels.times,
            {"units": f"seconds since {_time(case.at)}", "long_name": "time of the channel"},
        ),
        "channel_diameter": (("channel",), seen.channels.diameters, _about("m", "diameter of the channel")),
        "channel_was_used": (
            ("channel",),
            np.isin(seen.channels.scans, case.seen).astype(np.int8),
            _about("1", "1 where the inversion used it"),
        ),
        "measured_number": (("channel",), seen.channels.number, _about("m-3", "measured number")),
        "predicted_number": (("channel",), seen.predicted, _about("m-3", "number predicted from the recovered state")),
    }
    if not recovery.adequacy.is_rejected:
        bounds = np.stack(state.interval(), axis=1)
        variables["number_concentration_interval"] = (
            ("size", "bound"),
            bounds,
            _about("m-3", "interval of the number, errors that are the same in all scans left out"),
        )
        true = np.stack(state.interval(true=True), axis=1)
        variables["number_concentration_true_interval"] = (
            ("size", "bound"),
            true,
            _about("m-3", "interval of the number, with all errors of the instrument"),
        )
    attributes = {
        "title": "Aerosol size distribution recovered from later measurements",
        "source": case.observations.source,
        "recovered_time": _time(case.at),
        "interval_level": state.level,
        "prior_strength": recovery.minimum.curve.strength,
        "model_is_rejected": int(recovery.adequacy.is_rejected),
        "model_statistic": recovery.adequacy.statistic,
        "model_p": recovery.adequacy.p,
    }
    return dataset.assign(variables).assign_attrs(attributes)


def write_recovery(path: Path, recovery: Recovery) -> None:
    """Write `recovery_to_xarray` as NetCDF.

    Raises:
        OSError: The file cannot be written.
    """
    dataset: Any = recovery_to_xarray(recovery)
    dataset.to_netcdf(path, engine="h5netcdf")


def read_recovery(path: Path) -> RecoveredState:
    """The recovered state of a file, equal to the one that was written.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a recovery.
    """
    xarray: Any = xr
    with xarray.open_dataset(path, engine="h5netcdf", decode_times=False) as dataset:
        missing = {"ln_spectrum", "knot_diameter", "fit_covariance", "gain", "error_mode"} - set(dataset.variables)
        if missing:
            raise ValueError(f"{path}: not a recovery: {', '.join(sorted(map(str, missing)))} is missing")
        grid = from_xarray(dataset[["number_concentration", "particle_volume_bounds"]]).grid
        values = {str(name): np.asarray(dataset[name].values) for name in dataset.variables}
        level = float(dataset.attrs["interval_level"])
    names = tuple(_words(values["error_name"]))
    modes = ErrorModes(values["error_mode"], names, tuple(Reach[name] for name in _words(values["error_reach"])))
    known = Uncertainty(
        values["fit_covariance"], values["gain"], values["averaging_kernel"], modes, values["gain"] @ modes.values
    )
    return RecoveredState(LogKnots(grid, values["knot_diameter"]), values["ln_spectrum"], known, level)


def _about(unit: str | None, name: str) -> dict[str, str]:
    return {"long_name": name} if unit is None else {"units": unit, "long_name": name}


def _time(time: np.datetime64) -> str:
    return str(time.astype("datetime64[s]")).replace("T", " ")


def _seconds(recovery: Recovery) -> Any:
    observations, channels = recovery.case.observations, recovery.forecast.channels
    return (observations.start[channels.scans] - recovery.case.at) / np.timedelta64(1, "s")


def _words(values: Any) -> list[str]:
    return [v.decode() if isinstance(v, bytes) else str(v) for v in values.tolist()]
