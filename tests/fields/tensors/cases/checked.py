"""A model of tensors that keeps the contract of scikit-learn, and where it does not."""

from atomstream import OnlineCPDictionary

SHAPES = "samples may be tensors of any order: data of a wrong shape are refused in other words"
FAILING = {
    "check_estimators_empty_data_messages": SHAPES,
    "check_fit2d_predict1d": SHAPES,
    "check_n_features_in_after_fitting": SHAPES,
}
CASES = {"tensors": ([OnlineCPDictionary(2, n_epochs=2, random_state=0)], FAILING)}
