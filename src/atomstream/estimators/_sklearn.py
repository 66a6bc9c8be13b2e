"""Classes of scikit-learn that models are derived from; ``_sklearn.pyi`` says of which types."""

from sklearn.base import BaseEstimator as BaseEstimator
from sklearn.base import ClassNamePrefixFeaturesOutMixin as ClassNamePrefixFeaturesOutMixin
from sklearn.base import TransformerMixin as TransformerMixin

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9
    from atomstream.estimators._plain_callbacks import CallbackSupportMixin as CallbackSupportMixin
    from atomstream.estimators._plain_callbacks import with_callbacks as with_callbacks
