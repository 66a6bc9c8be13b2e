"""Faults put into the sources, one at a time, and the bound that each must fail.

A bound that leaves room on every machine says less than it could. What it still says is shown
here: each row names a test, a text of the sources and what stands there in its stead; the test
must fail in the copy, and by its bound, not by an error. Run it with `make test-mutations`, or
with parts of names of tests as arguments. Texts occur once in the package, wherever that is.
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

from cases import of_fields

TESTS = Path(__file__).parent
ROOT = TESTS.parent
PACKAGE = ROOT / "src" / "atomstream"

# By the name of a test: texts, and what stands there in the stead of each. Faults in fields, and
# those that tests of fields bound, are told by the fields.
CORE = {
    "test_a_small_input_settles_unless_its_passes_are_given": [
        ("most = passes if settings.epochs is None and passes > 1 else 0", "most = 0")
    ],
    "test_slots_learn_rows_nearly_without_noise_as_serial_learning_does[16]": [
        ("SMALL_BATCH = 32", "SMALL_BATCH = 128")
    ],
    "test_steps_are_small_where_the_first_rows_have_little_noise": [
        ("return float(share * (n - 1) * d", "return float(0.5 * share * (n - 1) * d")
    ],
    "test_rounds_by_sums_end_where_those_in_memory_do[kl]": [("if gain < 0:", "if False:")],
    "test_one_batch_that_is_all_of_the_data_comes_to_rest[digits]": [
        ("violation = min(violation, WHOLE_VIOLATION)", "pass")
    ],
    "test_slots_learn_what_a_serial_run_learns[squared-2]": [
        (
            "shares = np.array(self._rows, dtype=float) / sum(",
            "shares = np.array(self._rows, dtype=float) / max(",
        )
    ],
    "test_slots_learn_what_a_serial_run_learns[kl-5]": [
        ("state = average.state(algorithm)", "pass")
    ],
    "test_slots_learn_counts_as_well_as_a_serial_run": [
        ("shown = shown if algorithm.updater", "shown = [] if algorithm.updater")
    ],
    "test_rows_with_gaps_learn_in_slots_and_one_without_any_entry_does_no_harm": [
        ("share = n_rows / sum(self._rows)", "share = float(n_rows)")
    ],
    "test_one_default_step_serves_every_loss_and_scale": [
        ("move /= np.maximum(memory.curvature, np.finfo(np.float64).tiny)", "pass")
    ],
    "test_both_doors_reach_critical_points_of_the_same_objective[kl]": [
        ("return (energy <= NOTHING * energy.max())", "return (energy < energy.max())")
    ],
    "test_missing_entries_and_sparse_rows_start_from_least_squares_too": [
        ("CLEARLY = 0.9", "CLEARLY = 0.0")
    ],
    "test_l1_ends_nearer_to_clean_rows_than_from_the_mixed_start": [
        ("CLEARLY = 0.9", "CLEARLY = 0.0")
    ],
    "test_without_a_change_it_takes_over_next_to_never": [("LEVEL = 5.0", "LEVEL = 0.1")],
    "test_the_second_change_is_found_as_soon_as_the_first[50]": [
        (
            "self._known, self._n_judged = (min(n, REMEMBERED) for n in",
            "self._known, self._n_judged = (0 * n for n in",
        )
    ],
    "test_hard_laws_give_hardly_more_false_alarms_than_was_asked_for[very dependent]": [
        ("DOUBT = 0.75", "DOUBT = 0.0")
    ],
    "test_fit_ends_where_batch_factorization_ends": [("GAIN = 3e-4", "GAIN = 3e-2")],
    "test_one_pass_comes_near_the_atoms_that_rows_were_made_from": [
        ("FIRST_ROUNDS = 100  # over", "FIRST_ROUNDS = 1  # over")
    ],
    "test_one_pass_over_unequal_entries_ends_where_an_alternation_does": [
        ("ROUGH_STEPS, EXACT = 50, 1e-2", "ROUGH_STEPS, EXACT = 50, 1")
    ],
    "test_learning_weighted_divergences_ends_as_weighted_multiplicative_updates_do": [
        ("if self._shares is None else shares.T @ weighted", "")
    ],
    "test_the_end_is_that_of_exact_weighted_least_squares": [
        ("seen, shares = m * X, m", "seen, shares = X, np.ones_like(m)")
    ],
    "test_a_start_outside_its_set_is_as_good_as_one_inside[long]": [
        ("dictionary.assign(inside(dictionary.atoms(), self.algorithm_))", "pass")
    ],
    "test_a_start_with_repeated_rows_ends_as_one_of_different_rows[counts-kl-stream]": [
        ("places = np.flatnonzero(idle & ~stays)", "places = np.flatnonzero(idle & stays)")
    ],
    "test_a_start_outside_its_set_is_as_good_as_one_inside[mixed]": [
        ("atoms = directions(atoms).astype(rows.dtype, copy=False)", "pass")
    ],
    "test_data_that_can_be_fitted_exactly_are": [
        ("by_coordinates = not limits and", "by_coordinates = False and")
    ],
    "test_the_end_is_that_of_batch_updates_which_take_thousands_of_rounds": [
        ("SWEEPS = 10  # over codes", "SWEEPS = 1  # over codes")
    ],
    "test_atoms_are_learned_from_rows_with_outliers": [
        ("return float(self.deviations * self.scale), float(", "return 1e9, 1e9 * float(")
    ],
    "test_one_of_the_beginnings_tells_outliers_from_atoms": [
        (
            "weights = np.where(seen, 1 / (1 + (errors / wide) ** 2) ** 2, 0.0)",
            "weights = np.where(seen, 1.0, 0.0)",
        )
    ],
    "test_rows_of_overlapping_atoms_are_not_lost": [
        (
            "weights = np.where(seen, 1 / (1 + (errors / wide) ** 2) ** 2, 0.0)",
            "weights = np.where(seen, 1.0, 0.0)",
        )
    ],
    "test_a_run_on_a_markov_chain_converges": [
        ('TOLERANCE: ClassVar[Any] = "root"', "TOLERANCE: ClassVar[Any] = 0.9")
    ],
    "test_the_second_proposal_is_taken_where_atoms_are_alike": [
        ("if self.newton and latest:", "if False:")
    ],
    "test_atoms_neither_shrink_nor_die_on_a_long_stream": [
        ("self.idle = np.where(used, 0.0, self.idle + mass)", "self.idle = self.idle + mass")
    ],
    "test_steps_shrink_as_one_over_t": [('"""Return n / N."""', "return max(mass / total, 0.05)")],
    "test_directions_of_a_sparse_model_are_found_and_kept_in_files": [
        ("self.idle = np.where(used, 0.0, self.idle + mass)", "self.idle = self.idle + mass")
    ],
    "test_false_alarms_are_as_rare_as_was_asked_for": [
        ("return self.statistic > 1\n\n", "return self.statistic > 0.5\n\n")
    ],
    "test_the_sum_tells_when_the_change_began": [
        ("self.statistic > UNDER_WAY else 0", "self._sum > 0 else self.since")
    ],
    "test_more_passes_over_outliers_do_not_move_atoms_away_from_clean_rows": [
        ("others = np.setdiff1d(order, part)", "others = np.sort(order)")
    ],
    "test_a_long_stream_ends_near_what_scaling_beforehand_gives": [
        (
            "        if not len(self.mass):\n            return X\n        divisor",
            "        return X\n        divisor",
        )
    ],
    "test_a_change_is_found_soon": [("SLACK = 0.25  # of a", "SLACK = 1.0  # of a")],
    "test_a_change_of_the_stream_is_an_alarm": [("CLIP = 2.0", "CLIP = 0.35")],
    "test_learning_comes_near_the_batch_factorization": [
        ("self.idle = np.where(used, 0.0, self.idle + mass)", "self.idle = self.idle + mass")
    ],
    "test_the_features_and_atoms_that_changed_are_named_and_so_is_when": [
        ("self.statistic > UNDER_WAY else 0", "self._sum > 0 else self.since")
    ],
    "test_atoms_that_are_used_more_or_less_are_named_though_the_loss_stays": [
        ("self.statistic > UNDER_WAY else 0", "self._sum > 0 else self.since")
    ],
}
ALL = CORE | of_fields("mutations")
if (TESTS / "together").is_dir():  # not where a field was taken out
    ALL |= import_module("together.faults").CASES
MUTATIONS = [(test, *fault) for test, faults in ALL.items() for fault in faults]


@functools.cache
def _sources(folder, pattern="*.py"):
    """Return the text of every module below a folder, which is read once."""
    return {path: path.read_text("utf-8") for path in sorted(folder.rglob(pattern))}


def holders(text):
    """Return the modules in which a text occurs, each as often as it occurs there."""
    return [path for path, source in _sources(PACKAGE).items() for _ in range(source.count(text))]


def module_of(test):
    """Return the module of a test; its name, without parameters, stands once in the suite."""
    start = f"\ndef {test.partition('[')[0]}("
    (module,) = (path for path, text in _sources(TESTS, "test_*.py").items() if start in text)
    return module


def survives(test, text, replacement):
    """Return why a test does not fail by its bound in a copy with the fault; empty if it does."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(shutil.copytree(PACKAGE, Path(folder) / "atomstream"))
        module = package / holders(text)[0].relative_to(PACKAGE)
        module.write_text(module.read_text("utf-8").replace(text, replacement), "utf-8")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-x",
                "-p",
                "no:cacheprovider",
                f"{module_of(test)}::{test}",
            ],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode == 1 and "stands against a bound of" in done.stdout:
        return ""
    return "it passes" if done.returncode == 0 else done.stdout[-1000:]


def main(wanted):
    chosen = [
        fault for fault in MUTATIONS if not wanted or any(part in fault[0] for part in wanted)
    ]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for fault, why in zip(
            chosen, pool.map(lambda fault: survives(*fault), chosen), strict=True
        ):
            print("missed" if why else "seen  ", fault[0], why, flush=True)
            failed += bool(why)
    print(f"{len(chosen)} faults put in; {failed} of them were missed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
