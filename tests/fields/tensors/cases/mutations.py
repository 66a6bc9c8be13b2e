"""Faults put into the sources, and the bounds of this field that each must fail."""

CASES = {
    "test_nearly_parallel_columns_are_learned_down_to_the_noise[1.0]": [
        ("descends_on_full_data: ClassVar[bool] = True\n    creeps", "creeps")
    ],
    "test_a_tensor_in_memory_is_polished_and_one_in_a_file_on_request": [
        ("n_sweeps = None if settles and slices.in_memory else 0", "n_sweeps = 0")
    ],
    "test_bounded_loadings_learn_at_every_scale": [
        (
            "float(np.linalg.eigvalsh(gram)[-1]), TINY)\n    point",
            "float(np.linalg.eigvalsh(gram)[-1]), 1.0)\n    point",
        )
    ],
    "test_nearly_parallel_loadings_settle_on_a_stream_as_in_memory": [
        ("share = FINE_GAIN if algorithm.updater.creeps else share", "pass")
    ],
}
