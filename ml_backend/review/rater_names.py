"""Display names of raters: annotators and models."""

from collections.abc import Mapping

from softirr.answers.answer import MODEL


def name_of(raters: Mapping[str, str], rater: str) -> str:
    """Display name of a rater.

    Parameters
    ----------
    raters : mapping of str to str
        Names by rater id.
    rater : str
        Id of an annotator in Label Studio, or ``model:`` and the version of a model.
    """
    if rater.startswith(MODEL):
        return f"model {rater.removeprefix(MODEL)}"
    return raters.get(rater) or f"Annotator {rater}"
