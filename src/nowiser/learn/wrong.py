"""Errors of models that are also those the ecosystem of scikit-learn expects."""

from nowiser.errors import Misconfigured


class Unsuitable(Misconfigured, ValueError):
    """An argument of a model, or a table given to it, is wrong. Also a ValueError, as scikit-learn's tools expect."""


class NotFitted(Misconfigured, ValueError, AttributeError):
    """The model was not fitted yet."""


def not_fitted(name: str) -> Exception:
    """Also scikit-learn's own error where that is installed."""
    said = f"this {name} is not fitted yet"
    hint = "Call fit first, or read a fitted one with from_json."
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return NotFitted(said, hint=hint)
    both = type("NotFitted", (NotFitted, NotFittedError), {})
    found: Exception = both(said, hint=hint)
    return found
