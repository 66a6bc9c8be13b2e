"""
In pipelines and grid search
============================

Which number of atoms and which penalty make the best features for a classifier? The models are
scikit-learn estimators, so its tools work with them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from atomstream import OnlineNMF

X, y = load_digits(return_X_y=True)
pipeline = make_pipeline(
    MinMaxScaler(clip=True),
    OnlineNMF(n_epochs=3, random_state=0),
    LogisticRegression(C=10.0, max_iter=2000),
)
grid = {"onlinenmf__n_components": [4, 8, 16, 32, 64], "onlinenmf__alpha": [0.0, 0.03, 0.1, 0.3]}
search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
print(search.best_params_, f"{search.best_score_:.3f}")

# %%
# Accuracy on rows that were left out.

scores = search.cv_results_["mean_test_score"].reshape(4, 5)
figure, axis = plt.subplots(figsize=(6, 3.8), layout="constrained")
axis.imshow(scores, cmap="Blues", aspect="auto")
for row, column in np.ndindex(scores.shape):
    colour = "white" if scores[row, column] > 0.85 else "black"
    axis.text(column, row, f"{scores[row, column]:.2f}", ha="center", va="center", color=colour)
axis.set_xticks(range(5), grid["onlinenmf__n_components"])
axis.set_yticks(range(4), grid["onlinenmf__alpha"])
axis.set(xlabel="atoms", ylabel="alpha", title="share of digits that are classified right")

plt.show()
