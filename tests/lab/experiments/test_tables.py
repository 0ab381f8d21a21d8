"""Annotated tables: layouts of REFLACX and Derm1M, made up here, and plain tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.experiments.run import NamedMeasure, run_real
from lab.experiments.scoring import truth
from lab.experiments.tables import GoldTable, load_table
from softirr.errors import InputError
from tests.meaning.measures.function_measures import FunctionMeasure

# --- plain
# --------------------------------------------------------------------------------------------------------------

PLAIN = """item,rater,text,codes
1,ann,high blood pressure,I10
1,ben,hypertension,I10
2,ann,fever,R50
2,ann,cough,R05
2,ben,dry cough,R05
3,ann,,
3,ben,nausea,R11
4,ann,knee pain,M25|R52
4,ben,sore knee,M25
"""


def _table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plain_table(tmp_path: Path) -> None:
    table = load_table(str(_table(tmp_path, PLAIN)))
    assert table.name == "answers"
    assert len(table.table.items) == len(table.gold.items) == 4
    assert all(answer.by_text is None for answer in table.answers), "one text has two codes"
    by = {(a.item, a.rater): (a.texts, a.codes) for a in table.answers}
    assert by["2", "ann"] == (("fever", "cough"), ("R50", "R05"))
    assert by["3", "ann"] == ((), ())
    # Jaccard 1, 1/2, 0, 1/2
    observed = truth(table.gold).estimates["optimal"]["observed_agreement"]
    assert observed == pytest.approx((1 + 0.5 + 0 + 0.5) / 4)


def test_one_code_for_each_text_is_known_to_be_its_code(tmp_path: Path) -> None:
    table = load_table(f"mine={_table(tmp_path, PLAIN.replace('M25|R52', 'M25'))}")
    assert table.name == "mine"
    assert [dict(a.by_text or {}) for a in table.answers if (a.item, a.rater) == ("2", "ann")] == [
        {"fever": "R50", "cough": "R05"}
    ]


@pytest.mark.parametrize(
    ("stands", "becomes", "message"),
    [
        ("1,ann,high blood pressure,I10", "1,,high blood pressure,I10", "line 2: the rater is missing"),
        ("3,ben,nausea,R11", "3,ben,nausea,", "line 8: the text has no code"),
        ("3,ben,nausea,R11", "3,ben,nausea", "line 8: 3 columns instead of 4"),
        ("item,rater,text,codes", "item,rater,text,code", "line 1: no header item,rater,text,codes"),
        ("2,ann,cough,R05", "2,ann,fever,R05", "line 5: the same text of one answer has other codes"),
    ],
)
def test_damaged_tables_end_in_one_sentence(stands: str, becomes: str, message: str, tmp_path: Path) -> None:
    path = _table(tmp_path, PLAIN.replace(stands, becomes, 1))
    with pytest.raises(InputError) as caught:
        load_table(str(path))
    assert f"{path}, {message}" in str(caught.value)


def test_a_table_of_one_rater_is_refused(tmp_path: Path) -> None:
    path = _table(tmp_path, "item,rater,text,codes\n1,a,x,X\n2,a,y,Y\n2,b,y,Y\n")
    with pytest.raises(InputError, match="fewer than two items have answers of two raters"):
        load_table(str(path))


# --- REFLACX
# ------------------------------------------------------------------------------------------------------------

ABOUT = "id,split,eye_tracking_data_discarded,image,dicom_id,subject_id,image_size_x,image_size_y"
PHASE_1 = f"""{ABOUT},Atelectasis,Consolidation,Fibrosis,Other,Quality issue,Support devices
P101R000001,train,False,files/a.dcm,dicom-a,1,100,100,0,5,0,,False,True
P102R000002,train,False,files/a.dcm,dicom-a,1,100,100,3,0,0,scar|old,False,False
P103R000003,train,True,files/a.dcm,dicom-a,1,100,100,1,0,0,,False,False
P101R000004,train,False,files/b.dcm,dicom-b,2,100,100,0,0,0,,False,False
P102R000005,train,False,files/b.dcm,dicom-b,2,100,100,0,0,1,,True,False
"""
PHASE_2 = f"""{ABOUT},Atelectasis,Enlarged hilum,Other,Support devices
P201R000006,test,False,files/c.dcm,dicom-c,3,100,100,4,2,,False
P204R000007,test,False,files/c.dcm,dicom-c,3,100,100,4,0,,False
"""
PHASE_3 = f"""{ABOUT},Atelectasis,Enlarged hilum,Other,Support devices
P300R000008,test,False,files/d.dcm,dicom-d,4,100,100,4,2,,False
"""


@pytest.fixture
def reflacx(tmp_path: Path) -> Path:
    root = tmp_path / "reflacx"
    main = root / "main_data"
    main.mkdir(parents=True)
    for phase, text in ((1, PHASE_1), (2, PHASE_2), (3, PHASE_3)):
        (main / f"metadata_phase_{phase}.csv").write_text(text)
    for number, transcription in enumerate(
        [
            "consolidation.",
            "some atelectasis",
            "",
            "normal chest",
            "fibrosis",
            "hilum enlarged",
            "atelectasis",
            "phase 3",
        ],
        start=1,
    ):
        if number == 3:
            continue  # discarded readings have no transcription
        phase = 1 if number < 6 else 2 if number < 8 else 3
        rater = {1: 1, 2: 2, 4: 1, 5: 2, 6: 1, 7: 4, 8: 0}[number]
        folder = main / f"P{phase}0{rater}R{number:06}"
        folder.mkdir()
        (folder / "transcription.txt").write_text(transcription)
    return root


def test_reflacx_takes_phases_1_and_2(reflacx: Path) -> None:
    table = load_table(str(reflacx))
    answers = {(a.item, a.rater): (a.texts, a.codes) for a in table.answers}
    assert answers == {
        ("dicom-a", "01"): (("consolidation.",), ("Consolidation", "Support devices")),
        ("dicom-a", "02"): (("some atelectasis",), ("Atelectasis",)),
        ("dicom-b", "01"): (("normal chest",), ()),
        ("dicom-b", "02"): (("fibrosis",), ("Fibrosis", "Quality issue")),
        ("dicom-c", "01"): (("hilum enlarged",), ("Atelectasis", "Enlarged hilum")),
        ("dicom-c", "04"): (("atelectasis",), ("Atelectasis",)),
    }
    assert [(e.item, e.rater) for e in table.excluded] == [("dicom-a", "03")]
    assert "discarded" in table.excluded[0].reason


def test_reflacx_with_a_bad_certainty(reflacx: Path) -> None:
    path = reflacx / "main_data" / "metadata_phase_1.csv"
    path.write_text(PHASE_1.replace("dicom-b,2,100,100,0,0,1,", "dicom-b,2,100,100,0,0,likely,"))
    with pytest.raises(InputError, match=r"metadata_phase_1\.csv, line 6: the certainty of 'Fibrosis' is 'likely'"):
        load_table(str(reflacx))


def test_reflacx_without_a_phase_or_with_another_id(reflacx: Path) -> None:
    main = reflacx / "main_data"
    (main / "metadata_phase_1.csv").write_text(PHASE_1.replace("P101R000001", "reading 1"))
    with pytest.raises(InputError, match="line 2: 'reading 1' is not the id of a reading"):
        load_table(str(reflacx))
    (main / "metadata_phase_2.csv").unlink()
    with pytest.raises(InputError):
        load_table(str(reflacx))
    with pytest.raises(InputError, match="only folder that is read is REFLACX"):
        load_table(str(reflacx / "main_data" / "P101R000001"))


# --- Derm1M
# -------------------------------------------------------------------------------------------------------------

DERM1M = """filename,caption,truncated_caption,disease_label,hierarchical_disease_label,skin_concept,source,source_type
pubmed/1.png,"Red plaques, scaly",Red plaques,Psoriasis,"inflammatory, psoriasis","plaque, scale",pubmed,knowledge
youtube/9.jpg,thick scaly skin,thick skin,psoriasis,"inflammatory, psoriasis",scale,youtube,edu
forum/2.jpg,what is this,what,no definitive diagnosis,no definitive diagnosis,No visual concepts,forum,forum
pubmed/3.png,a mole,a mole,nevus,"proliferations, nevus",No visual concepts,pubmed,knowledge
youtube/3.jpg,brown spot,brown spot,melanoma,"proliferations, melanoma",brown,youtube,edu
pubmed/4.png,second caption of the mole,second,nevus,"proliferations, nevus",brown,pubmed,knowledge
pubmed/5.png,alone,alone,acne,"inflammatory, acne",papule,pubmed,knowledge
pubmed/6.png,,,acne,"inflammatory, acne",papule,pubmed,knowledge
"""
DUPLICATES = """filename,group
pubmed/1.png,g1
youtube/9.jpg,g1
forum/2.jpg,g1
pubmed/3.png,g2
youtube/3.jpg,g2
pubmed/4.png,g2
"""


def test_derm1m_is_filtered_as_in_the_paper(tmp_path: Path) -> None:
    metadata, duplicates = tmp_path / "Derm1M_v2_pretrain.csv", tmp_path / "duplicates.csv"
    metadata.write_text(DERM1M)
    duplicates.write_text(DUPLICATES)
    table = load_table(f"derm={metadata},{duplicates}")
    answers = {(a.item, a.rater): (a.texts, a.codes) for a in table.answers}
    assert answers == {
        ("g1", "pubmed"): (("Red plaques, scaly",), ("psoriasis", "plaque", "scale")),
        ("g1", "youtube"): (("thick scaly skin",), ("psoriasis", "scale")),
        ("g2", "pubmed"): (("a mole",), ("nevus",)),
        ("g2", "youtube"): (("brown spot",), ("melanoma", "brown")),
    }
    assert {(e.item, e.rater, e.reason) for e in table.excluded} == {
        ("g1", "forum", "not mapped to the terminology"),
        ("g2", "pubmed", "a further caption of the same source"),
        ("pubmed/5.png", "pubmed", "only one source"),
        ("pubmed/6.png", "pubmed", "no caption"),
    }


def test_derm1m_without_a_list_of_duplicates_has_nothing_to_compare(tmp_path: Path) -> None:
    metadata = tmp_path / "Derm1M_v2_pretrain.csv"
    metadata.write_text(DERM1M)
    with pytest.raises(InputError, match="fewer than two items"):
        load_table(str(metadata))


# --- scoring
# ------------------------------------------------------------------------------------------------------------


def test_the_exact_measure_is_right_where_texts_are_codes(tmp_path: Path) -> None:
    rows = [
        f"{i},{r},{c},{c}" for i in range(12) for r, c in (("a", "xyz"[i % 3]), ("b", "xyz"[i % 4 % 3]), ("c", "x"))
    ]
    table: GoldTable = load_table(str(_table(tmp_path, "item,rater,text,codes\n" + "\n".join(rows) + "\n")))
    records = run_real([table], [NamedMeasure.of("exact"), NamedMeasure.of("jaccard")])
    assert len(records) == 2
    for record in records:
        for name, true in record.project.truth.items():
            estimate = record.scored.estimates["optimal"][name]
            assert estimate == (None if true is None else pytest.approx(true, abs=1e-9))


def test_chance_is_exact_for_cheap_measures_only(tmp_path: Path) -> None:
    rows = [f"{i},{rater},text {i} {rater},c{i % 3}" for i in range(40) for rater in "ab"]
    table = load_table(str(_table(tmp_path, "item,rater,text,codes\n" + "\n".join(rows) + "\n")))
    costly = NamedMeasure("costly", FunctionMeasure(lambda a, b: 0.0, "costly"))  # type: ignore[arg-type]
    exact, permuted = run_real([table], [NamedMeasure.of("indel"), costly])
    all_pairs = 80 * 79 / 2
    assert 40 < permuted.scored.pairs < all_pairs / 4
    assert exact.scored.pairs >= all_pairs, "a cell of two blocks counts twice"
