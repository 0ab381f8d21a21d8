"""Texts as people wrote them: reading, the concepts set aside, and the projects drawn from the texts."""

import gzip

import pytest

from lab.experiments.wording import NEGATIVES, is_aside, read_wording
from softirr.errors import InputError


def write(path, rows):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("text\tconcept\tsource_id\tn\n")
        file.writelines("\t".join((*row, "1")) + "\n" for row in rows)
    return path


@pytest.fixture
def phrases(tmp_path):
    rows = [(f"finding {i} by {who}", f"C{i}", "") for i in range(60) for who in ("ann", "ben", "cleo")]
    return write(tmp_path / "phrases.tsv.gz", [*rows, ("shared", "C1", ""), ("shared", "C2", "")])


def test_every_concept_is_either_visible_or_aside(phrases):
    visible, aside, all_texts = (
        read_wording(phrases, subset=subset).texts[""] for subset in ("visible", "aside", "all")
    )
    assert visible.keys() | aside.keys() == all_texts.keys() and not visible.keys() & aside.keys()
    assert all(map(is_aside, aside)) and not any(map(is_aside, visible))
    assert len(all_texts) == 60


def test_texts_with_two_concepts_are_left_out(phrases):
    texts = read_wording(phrases, subset="all").texts[""]
    assert not any("shared" in text for text in texts.values())
    assert texts["C3"] == ("finding 3 by ann", "finding 3 by ben", "finding 3 by cleo")


@pytest.mark.parametrize("negatives", NEGATIVES)
def test_the_share_of_common_concepts_is_the_one_asked_for(phrases, negatives):
    project = read_wording(phrases, subset="all").project(2_000, 0.7, negatives, seed=3)
    same = sum(a == b for a, b in project.concepts) / 2_000
    assert abs(same - 0.7) < 0.04
    identity = project.identity()
    assert all(
        {code} == identity[text]
        for pair, codes in zip(project.texts, project.concepts, strict=True)
        for text, code in zip(pair, codes, strict=True)
    )


def test_raters_stay_inside_one_context(tmp_path):
    rows = [(f"{source} {i} {j}", f"{source}{i}", source) for source in "xy" for i in range(30) for j in range(2)]
    wording = read_wording(write(tmp_path / "intents.tsv.gz", rows), subset="all")
    project = wording.project(500, 0.5, "random", seed=1)
    assert all(a[0] == b[0] for a, b in project.concepts)


def test_a_file_without_its_columns_or_without_wordings_is_refused(tmp_path):
    path = tmp_path / "wrong.tsv.gz"
    with gzip.open(path, "wt") as file:
        file.write("a\tb\n1\t2\n")
    with pytest.raises(InputError, match="columns"):
        read_wording(path)
    with pytest.raises(InputError, match="no concept has two texts"):
        read_wording(write(tmp_path / "single.tsv.gz", [("one", "C1", "")]), subset="all")
