"""Convex models keep the contract of scikit-learn, but here."""

from atomstream import OnlineConvexMF

WEIGHTS = "a row of weight 4 makes one step, and four rows make four"
FAILING = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
CASES = {"convex": ([OnlineConvexMF(2, n_representatives=6, random_state=0)], FAILING)}
