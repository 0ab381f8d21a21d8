"""The literature that a methods paragraph cites, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["REFERENCES", "Reference", "bibtex"]


@dataclass(frozen=True)
class Reference:
    """A work.

    Attributes
    ----------
    authors : str
        As BibTeX has them.
    short : str
        As running text has them.
    year : int
    title, kind : str
        ``kind`` is the type of the BibTeX entry.
    where : str
        Journal or publisher.
    """

    authors: str
    short: str
    year: int
    title: str
    kind: str = "article"
    where: str = ""

    def told(self) -> str:
        """The entry of a reference list."""
        where = f" {self.where}." if self.where else ""
        return f"{self.authors.replace(' and ', '; ')} ({self.year}). {self.title}.{where}"


REFERENCES = {
    "angelopoulos2023": Reference(
        "Angelopoulos, A. N. and Duchi, J. C. and Zrnic, T.",
        "Angelopoulos et al.",
        2023,
        "PPI++: efficient prediction-powered inference",
        "misc",
        "arXiv:2311.01453",
    ),
    "braylan2022": Reference(
        "Braylan, A. and Alonso, O. and Lease, M.",
        "Braylan et al.",
        2022,
        "Measuring annotator agreement generally across complex structured, multi-object, and free-text annotation tasks",
        "inproceedings",
        "Proceedings of the ACM Web Conference 2022",
    ),
    "cohen1960": Reference(
        "Cohen, J.",
        "Cohen",
        1960,
        "A coefficient of agreement for nominal scales",
        where="Educational and Psychological Measurement",
    ),
    "efron1987": Reference(
        "Efron, B.",
        "Efron",
        1987,
        "Better bootstrap confidence intervals",
        where="Journal of the American Statistical Association",
    ),
    "fleiss1971": Reference(
        "Fleiss, J. L.",
        "Fleiss",
        1971,
        "Measuring nominal scale agreement among many raters",
        where="Psychological Bulletin",
    ),
    "gwet2008": Reference(
        "Gwet, K. L.",
        "Gwet",
        2008,
        "Computing inter-rater reliability and its variance in the presence of high agreement",
        where="British Journal of Mathematical and Statistical Psychology",
    ),
    "johnson1978": Reference(
        "Johnson, N. J.",
        "Johnson",
        1978,
        "Modified t tests and confidence intervals for asymmetrical populations",
        where="Journal of the American Statistical Association",
    ),
    "krippendorff2011": Reference(
        "Krippendorff, K.",
        "Krippendorff",
        2011,
        "Computing Krippendorff's alpha-reliability",
        "techreport",
        "University of Pennsylvania",
    ),
    "krippendorff2004": Reference(
        "Krippendorff, K.",
        "Krippendorff",
        2004,
        "Content analysis: an introduction to its methodology",
        "book",
        "Sage",
    ),
    "landis1977": Reference(
        "Landis, J. R. and Koch, G. G.",
        "Landis and Koch",
        1977,
        "The measurement of observer agreement for categorical data",
        where="Biometrics",
    ),
    "sarndal1992": Reference(
        "Särndal, C.-E. and Swensson, B. and Wretman, J.",
        "Särndal et al.",
        1992,
        "Model assisted survey sampling",
        "book",
        "Springer",
    ),
    "scott1955": Reference(
        "Scott, W. A.",
        "Scott",
        1955,
        "Reliability of content analysis: the case of nominal scale coding",
        where="Public Opinion Quarterly",
    ),
    "wullschleger2026": Reference(
        "Wullschleger, P. and Kreis, C. and Walter, M. A. and Foster, J. and Pouly, M.",
        "Wullschleger et al.",
        2026,
        "Consensus measures for unstructured biomedical text annotations",
        "misc",
    ),
}

_PLACE = {
    "article": "journal",
    "inproceedings": "booktitle",
    "techreport": "institution",
    "book": "publisher",
    "misc": "howpublished",
}


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
        work = REFERENCES[key]
        fields = {"author": work.authors, "title": f"{{{work.title}}}", "year": str(work.year)}
        if work.where:
            fields[_PLACE[work.kind]] = work.where
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        entries.append(f"@{work.kind}{{{key},\n{body}\n}}\n")
    return "\n".join(entries)
