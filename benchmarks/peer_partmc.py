"""PartMC's own run of additive coagulation, through PyPartMC: a program of its own, run by its own interpreter.

PyPartMC is under the GPL; nothing of this project is imported here, and nothing of it there.

    /path/to/python benchmarks/peer_partmc.py PARTICLES STEPS ROUNDS

prints, for every round, particles before and after, and the processor time of the run [s].
"""

import sys
import tempfile
import time

import PyPartMC as ppmc  # pyright: ignore

NUMBER, DIAMETER, DURATION = 1e12, 1e-7, 1000.0
VOLUME = 3.141592653589793 / 6.0 * DIAMETER**3


def run(particles: int, steps: int, folder: str) -> tuple[int, int, float]:
    """One run to b N0 v0 t = 1 from an exponential start."""
    water = {"mass_frac": [{"H2O": [1]}], "diam_type": "geometric", "mode_type": "exp", "diam_at_mean_vol": DIAMETER}
    gas_data, aero_data = ppmc.GasData(("H2SO4",)), ppmc.AeroData(({"H2O": [1000.0, 0, 18e-3, 0.0, 0.0, 0.0]},))
    nothing = [{"time": [0]}, {"rate": [0]}, {"dist": [[{"none": {**water, "num_conc": 0}}]]}]
    no_gas = [{"time": [0]}, {"rate": [0]}, {"H2SO4": [0]}]
    scenario = ppmc.Scenario(
        gas_data,
        aero_data,
        {
            "temp_profile": [{"time": [0]}, {"temp": [298.0]}],
            "pressure_profile": [{"time": [0]}, {"pressure": [1e5]}],
            "height_profile": [{"time": [0]}, {"height": [1]}],
            "gas_emissions": no_gas,
            "gas_background": no_gas,
            "aero_emissions": nothing,
            "aero_background": nothing,
            "loss_function": "none",
        },
    )
    place = {"rel_humidity": 0.5, "latitude": 0, "longitude": 0, "altitude": 0, "start_time": 0, "start_day": 1}
    air = ppmc.EnvState(place)
    scenario.init_env_state(air, 0)
    air.additive_kernel_coefficient = 1.0 / (NUMBER * VOLUME * DURATION)
    state = ppmc.AeroState(aero_data, particles, "flat")
    state.dist_sample(ppmc.AeroDist(aero_data, [{"mode": {**water, "num_conc": NUMBER}}]), 1.0, 0.0, False, False)
    options = ppmc.RunPartOpt(
        {
            "output_prefix": f"{folder}/run",
            "do_coagulation": True,
            "coag_kernel": "additive",
            "t_max": DURATION,
            "del_t": DURATION / steps,
            "t_output": 0,
            "t_progress": 0,
            "allow_halving": False,
            "allow_doubling": False,
            "do_parallel": False,
            "do_nucleation": False,
            "do_condensation": False,
            "do_mosaic": False,
            "do_camp_chem": False,
            "rand_init": 3,
        }
    )
    before, started = len(state), time.process_time()
    ppmc.run_part(
        scenario,
        air,
        aero_data,
        state,
        gas_data,
        ppmc.GasState(gas_data),
        options,
        ppmc.CampCore(),
        ppmc.Photolysis(),
    )
    return before, len(state), time.process_time() - started


if __name__ == "__main__":
    size, count, rounds = (int(argument) for argument in sys.argv[1:4])
    ppmc.rand_init(3)
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(rounds):
            print(*run(size, count, scratch), flush=True)
