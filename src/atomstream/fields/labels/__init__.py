"""Labels: dictionaries whose codes predict what rows are labelled with.

After Mairal, Bach and Ponce (2012), "Task-driven dictionary learning". Read `losses` (of labels at
scores), `dictionary` (rows, and a linear head on the codes), `memory` (averages, and what labels
add to them through the codes), `update` (sweep over the atoms, and solve for the head), `tables`
(labels as people give them), `model`, the estimator with its `parameters`, and `predicting`; then
`look` (what each atom speaks for) and `rows` (``atomstream learn --label``).
"""
