"""The literature that a methods paragraph cites, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable

from softirr.statistics.coefficients import registry
from softirr.statistics.coefficients.definition import Reference

__all__ = ["bibtex", "reference", "references"]


_METHODS = (
    Reference(
        key="angelopoulos2023",
        authors="Angelopoulos, A. N. and Duchi, J. C. and Zrnic, T.",
        short="Angelopoulos et al.",
        year=2023,
        title="PPI++: efficient prediction-powered inference",
        kind="misc",
        where="arXiv:2311.01453",
    ),
    Reference(
        key="johnson1978",
        authors="Johnson, N. J.",
        short="Johnson",
        year=1978,
        title="Modified t tests and confidence intervals for asymmetrical populations",
        where="Journal of the American Statistical Association",
    ),
    Reference(
        key="krippendorff2004",
        authors="Krippendorff, K.",
        short="Krippendorff",
        year=2004,
        title="Content analysis: an introduction to its methodology",
        kind="book",
        where="Sage",
    ),
    Reference(
        key="landis1977",
        authors="Landis, J. R. and Koch, G. G.",
        short="Landis and Koch",
        year=1977,
        title="The measurement of observer agreement for categorical data",
        where="Biometrics",
    ),
    Reference(
        key="sarndal1992",
        authors="Särndal, C.-E. and Swensson, B. and Wretman, J.",
        short="Särndal et al.",
        year=1992,
        title="Model assisted survey sampling",
        kind="book",
        where="Springer",
    ),
)
"""Works on intervals, sampling and reference values; works on a coefficient are in its definition."""

_PLACE = {
    "article": "journal",
    "inproceedings": "booktitle",
    "techreport": "institution",
    "book": "publisher",
    "misc": "howpublished",
}


def references() -> dict[str, Reference]:
    """Every work by its key, in alphabetical order.

    Returns
    -------
    dict of str to Reference
    """
    works = (*_METHODS, *(work for one in registry.DEFINITIONS for work in one.references))
    return {work.key: work for work in sorted(works, key=lambda work: work.key)}


def reference(key: str) -> Reference:
    """The work of a key.

    Parameters
    ----------
    key : str

    Returns
    -------
    Reference
    """
    return references()[key]


def bibtex(keys: Iterable[str]) -> str:
    """BibTeX entries of these works, in order.

    Examples
    --------
    >>> print(bibtex(["cohen1960"]))
    @article{cohen1960,
      author = {Cohen, J.},
      title = {{A coefficient of agreement for nominal scales}},
      year = {1960},
      journal = {Educational and Psychological Measurement}
    }
    <BLANKLINE>
    """
    entries = []
    for key in sorted(set(keys)):
        work = reference(key)
        fields = {"author": work.authors, "title": f"{{{work.title}}}", "year": str(work.year)}
        if work.where:
            fields[_PLACE[work.kind]] = work.where
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        entries.append(f"@{work.kind}{{{key},\n{body}\n}}\n")
    return "\n".join(entries)
