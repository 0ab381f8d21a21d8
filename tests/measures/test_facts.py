"""Facts that models overlook are read before any of them: they decide pairs, and rewrite values to one form."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import softirr
from softirr.measures import measure
from softirr.measures.corrected import corrected
from softirr.measures.facts import VERSION, facts_of, with_facts
from softirr.measures.layers import Stage
from softirr.measures.pairs import PairScorer
from softirr.measures.protocols import raw_of
from softirr.policy.measure import under_policy
from softirr.policy.rules import Policy
from softirr.provenance import Provenance
from softirr.text import normalize

DIFFERENT = [
    ("older than 65 years", "younger than 65 years"),
    ("longer than 3 days", "within 2 days"),
    ("mass larger than 5 cm", "mass smaller than 4 cm"),
    ("exceeding 5 mg", "less than 5 mg"),
    ("mild headache, severe nausea", "severe headache, mild nausea"),
    ("mild headache, acute nausea", "acute headache, mild nausea"),
    ("red bag with blue straps", "blue bag with red straps"),
    ("father had cancer, mother had stroke", "mother had cancer, father had stroke"),
    ("two cats, one dog", "one cat and two dogs"),
    ("old man and young woman", "young man and old woman"),
    ("rash in adults and fever in children", "fever in adults and rash in children"),
    ("Fieber bei Kindern und Husten bei Frauen", "Husten bei Kindern und Fieber bei Frauen"),
    ("headache improved but nausea worsened", "nausea improved but headache worsened"),
    ("increased potassium and decreased sodium", "decreased potassium and increased sodium"),
    ("acute appendicitis with chronic pain", "acute pain, chronic appendicitis"),
    ("pain from back to leg", "pain from leg to back"),
    ("model A outperforms model B", "model B outperforms model A"),
    ("nodule above the left clavicle", "clavicle above the left nodule"),
    ("Schmerz von Hüfte bis Knie", "Schmerz von Knie bis Hüfte"),
    ("2026-01-05", "2026-05-01"),
    ("seen 05/01/2026", "seen 01/05/2026"),
    ("seen in January 2026", "seen on 5 February 2026"),
    ("on Monday", "on Tuesday"),
    ("Mon", "Tue"),
    ("38.5 °C", "38.5 °F"),
    ("5 mg", "5 g"),
    ("fever for 3 days", "fever for four days"),
    (">5 cm", "<5 cm"),
    ("2-3 weeks", "4-5 weeks"),
    ("+", "-"),
    ("HIV+", "HIV -"),
    ("ER+ PR-", "ER- PR+"),
    ("-2.5 D", "+2.5 D"),
    ("fever?", "fever"),
    ("?fever", "fever"),
    ("possible fever", "fever"),
    ("no fever but cough", "no cough but fever"),
    ("cough without fever", "fever without cough"),
    ("no fever or cough", "cough, fever"),
    ("denies shortness of breath", "shortness of breath"),
    ("left arm and right leg", "right arm and left leg"),
    ("left arm weakness, right leg pain", "right arm weakness, left leg pain"),
    ("left shoulder pain radiating to right arm", "right shoulder pain radiating to left arm"),
    ("hearing loss L > R", "hearing loss R > L"),
    ("hearing loss, left greater than right", "hearing loss, right greater than left"),
    ("hearing loss, left < right", "hearing loss, left > right"),
    ("left knee pain", "right knee pain"),
    ("left and right knee", "left knee"),
    ("no left knee pain but right knee pain", "left knee pain but no right knee pain"),
    ("left", "right"),
    ("kein Fieber, aber Husten", "kein Husten, aber Fieber"),
    ("kein Fieber und kein Husten", "Fieber und Husten"),
    ("ohne Fieber", "Fieber"),
    ("weder Fieber noch Husten", "Husten und Fieber"),
    ("linkes Knie und rechter Arm", "rechtes Knie und linker Arm"),
    ("pas de fièvre mais toux", "pas de toux mais fièvre"),
    ("pas d'œdème mais fièvre", "pas de fièvre mais œdème"),
    ("ni fièvre ni toux", "fièvre et toux"),
    ("bras gauche et jambe droite", "bras droit et jambe gauche"),
    ("no fiebre pero tos", "no tos pero fiebre"),
    ("sin fiebre pero con tos", "sin tos pero con fiebre"),
    ("brazo izquierdo y pierna derecha", "brazo derecho y pierna izquierda"),
    ("senza febbre ma tosse", "senza tosse ma febbre"),
    ("sem febre mas com tosse", "sem tosse mas com febre"),
    ("geen koorts maar hoest", "geen hoest maar koorts"),
    ("160/95", "95/160"),
    ("10 mg aspirin, 5 mg warfarin", "5 mg aspirin, 10 mg warfarin"),
    ("from Monday to Friday", "from Friday to Monday"),
    ("5. Januar 2026", "5. Februar 2026"),
    ("5 janvier 2026", "5 février 2026"),
    ("5 de enero de 2026", "5 de mayo de 2026"),
    ("since March 2019", "since 04/2019"),
    ("at 8 am", "at 8 pm"),
    ("2x5 mg", "5x2 mg"),
    ("1-0-1", "0-1-0"),
    ("L4 fracture", "L5 fracture"),
    ("type 1 diabetes", "type 2 diabetes"),
    ("HIV +ve", "HIV -ve"),
    ("Rh+", "Rh-"),
    ("BP 120 over 80", "BP 140/90"),
    ("tone at 10 Hz", "tone at 10 kHz"),
    ("€5", "$5"),
    ("paid 5 euros", "paid €7"),
    ("US$ 20", "CAD 20"),
    ("$5 million", "€5 million"),
    ("230 V", "230 mV"),
    ("a 32-bit number", "a 64-bit number"),
    ("stage IIIA", "stage IIIB"),
    ("stage II cancer", "stage III cancer"),
    ("0,005 g", "5 g"),
    ("1.234 mg", "1.567 mg"),
    ("1.500 mg of 2.5", "1500 mg of 2.5"),
    ("-5 °C", "5 °C"),
    ("two hundred mg and 5 mg", "two hundred mg and 7 mg"),
    ("seen may 5", "seen may 6"),
    ("5 Jan 45", "5 Jan 46"),
    ("no symptoms, HIV positive", "no symptoms, HIV negative"),
    ("no symptoms but HIV positive", "no symptoms but HIV negative"),
    ("not HIV positive", "HIV positive"),
    ("5/1/26", "5/1/27"),
    ("5 Jan 45", "5 January 1930"),
]
EQUAL = [
    ("0.005 g", "5 mg"),
    ("5 January 2026", "2026-01-05"),
    ("Jan 5, 2026", "5.1.2026"),
    ("lesion of 30 mm", "lesion of 3 cm"),
    ("2-week history", "14-day history"),
    ("101.3 °F", "38.5 °C"),
    ("twenty-four hours", "1 day"),
    ("lost 11 pounds", "lost 5 kg"),
    ("tone at 2000 Hz", "tone at 2 kHz"),
    ("seen Tue", "seen Tuesday"),
    ("ER+", "ER positive"),
    ("fever?", "possible fever"),
    ("5. Januar 2026", "5 January 2026"),
    ("3. März 2025", "3.3.2025"),
    ("5 de enero de 2026", "2026-01-05"),
    ("5-Jan-2026", "Jan 5th, 2026"),
    ("5 Jan 26", "5 January 2026"),
    ("-5 °C", "minus 5 °C"),
    ("lip 2 cm", "lip 20 mm"),
    ("may 5 mg", "may 0.005 g"),
    ("31/12/99", "31 December 1999"),
    ("12/31/99", "1999-12-31"),
    ("since March 2019", "since 03/2019"),
    ("at 10:30 pm", "at 22:30"),
    ("BP 110 / 70", "BP 110 over 70"),
    ("€5", "5 euros"),
    ("EUR 1,000", "1000 €"),
    ("0,005 g", "5 mg"),
    ("10 V", "10 volts"),
    ("0.5 kV", "500 V"),
    ("stage IIIA", "stage 3a"),
    ("Grade iv", "Grade 4"),
    ("type 2 diabetes", "type II diabetes"),
    ("NYHA III", "NYHA 3"),
]
OPEN = [
    ("mild headache, severe nausea", "severe nausea, mild headache"),
    ("severe headache and nausea", "headache and severe nausea"),
    ("severe headache, mild", "mild headache, severe"),
    ("severe pain and mild pain", "mild pain and severe pain"),
    ("mild headache, severe nausea", "severe headache, moderate nausea"),
    ("left arm and leg pain", "left leg and arm pain"),
    ("severe nausea and vomiting today", "severe vomiting and nausea today"),
    ("yale university, school of medicine", "school of medicine, yale university"),
    ("complications and ill defined descriptions", "ill defined descriptions and complications"),
    ("bag with blue straps", "blue straps with bag"),
    ("big red bag, small blue hat", "red big bag and blue small hat"),
    ("meningioma of spinal canal and spinal cord", "spinal canal and spinal cord meningioma"),
    ("breast mixed ductal and lobular carcinoma", "mixed lobular and ductal carcinoma of breast"),
    ("a program sells and buys stocks daily", "the program buys and sells stocks daily"),
    ("my mother was pretty, when she was young", "when my mother was young, she was pretty"),
    ("headache after fever and rash", "headache after rash and fever"),
    ("fever with cough after travel", "cough with fever after travel"),
    ("to the left from the door", "from the door to the left"),
    ("left femur fracture", "fracture femur left"),
    ("5 cm", "5.2 cm"),
    ("two hundred and five mg", "205 mg"),
    ("one hundred five days", "105 days"),
    ("5 ft 10", "70 inches"),
    ("5 ft 10 in", "178 cm"),
    ("2 h 45", "165 min"),
    ("5 feet 10 inches", "178 cm"),
    ("HIV negative", "not HIV positive"),
    ("HIV-", "negative for HIV"),
    ("fever +, cough -", "fever but no cough"),
    ("fever (+), cough (-)", "fever but no cough"),
    ("room no 5", "room 5"),
    ("no 5", "5"),
    ("noch koorts noch hoest", "geen koorts, geen hoest"),
    ("wasn't tested positive", "tested negative"),
    ("no positive findings", "negative"),
    ("non-negative", "positive"),
    ("born 5 Jan 45", "born 5 January 1945"),
    ("until 5 Jan 45", "until 5 January 2045"),
    ("about 5 cm", "5 cm"),
    ("5 mg", "5 mg daily"),
    ("aspirin 5 mg", "aspirin"),
    ("2 x 3 cm", "3 x 2 cm"),
    ("Mon and Wed", "Wed and Mon"),
    ("4 weeks", "1 month"),
    ("10 mg aspirin, 5 mg warfarin", "5 mg warfarin, 10 mg aspirin"),
    ("no fever, cough", "fever, cough"),
    ("left knee and right knee", "bilateral knee"),
    ("left knee and right knee", "both knees"),
    ("left and right knee", "right knee and left knee"),
    ("left or right knee", "left knee"),
    ("left knee pain", "knee pain"),
    ("no left knee pain", "right knee pain"),
    ("L > R hearing loss", "bilateral hearing loss"),
    ("left arm and right leg", "right leg and left arm"),
    ("left knee", "L knee"),
    ("Knie links", "linkes Knie"),
    ("kein Fieber, aber Husten", "Husten, aber kein Fieber"),
    ("keine Schmerzen und Fieber", "Schmerzen und Fieber"),
    ("kein Fieber", "no fever"),
    ("10 V", "no 10 5"),
    ("5 L of fluid", "5 R of fluid"),
    ("vitamin E and pain", "vitamin E, pain"),
    ("NO synthase", "synthase"),
    ("Is it broken?", "it is broken"),
    ("ten miles", "no less than ten miles"),
    ("type 2 diabetes", "type II diabetes"),
    ("kidney stones", "2 stones in the kidney"),
    ("T-cell", "T cell"),
    ("1. cough", "2. cough"),
    ("HbA1c 7.5", "HbA1c 7.50"),
    ("1,000 people", "1000 people"),
    ("version 2.1", "version 2.10"),
    ("type 1 diabetes", "diabetes, type 2, and gout"),
    ("$5", "CAD 5"),
    ("¥100", "100 yuan"),
    ("1.000 mg", "1,000 mg"),
    ("1.000 kg", "1000 kg"),
    ("1.000 people", "1,000 people"),
    ("$1.000", "$1,000"),
    ("stage III", "stage IIIA"),
    ("stage IV lung cancer", "lung cancer, stage 3, with nodes"),
    ("5-10 mg", "5 mg"),
    ("50%", "1/2"),
    ("3 v 4", "3 V"),
    ("vitamin C 3", "vitamin D 3 a day"),
]


def decided(a: str, b: str) -> bool:
    stage: Stage = with_facts(measure("exact")).stage([normalize(a), normalize(b)])  # type: ignore[attr-defined]
    limited = stage.limited(np.array([0]), np.array([1]))
    return limited is not None and bool(limited[0])


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different_facts_decide(a: str, b: str) -> None:
    assert decided(a, b) and decided(b, a)
    assert not decided(a, a)


@pytest.mark.parametrize(("a", "b"), EQUAL)
def test_equal_values_are_written_in_one_form(a: str, b: str) -> None:
    assert normalize(facts_of(a).written) == normalize(facts_of(b).written)
    assert not decided(a, b)


@pytest.mark.parametrize(("a", "b"), OPEN)
def test_what_is_not_clear_is_left_to_the_model(a: str, b: str) -> None:
    assert not decided(a, b) and not decided(b, a)


@pytest.mark.parametrize("text", ["won 5 games", "rub 2 drops", "pain 3 out 10", "set 2020 goals", "it may 5 times"])
def test_english_words_are_no_currencies_and_months(text: str) -> None:
    assert facts_of(text).written == text
    assert not {"currency", "month"} & {value.quantity for value in facts_of(text).values}


class Asked:
    """Calls everything the same; what it is asked about is kept."""

    name = "asked"
    cache_key = "asked"

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def score(self, pairs: Sequence[tuple[str, str]]) -> Any:
        self.pairs += [pair for pair in pairs if pair[0] != pair[1]]
        return np.full(len(pairs), 0.9)

    def provenance(self) -> Provenance:
        return Provenance("asked")


@pytest.mark.parametrize("through", ["score", "scorer", "corrected"])
def test_a_decided_pair_is_0_and_the_model_is_not_asked(through: str) -> None:
    raw = Asked()
    with_facts_read: Any = with_facts(raw)  # type: ignore[arg-type]
    pairs = [("5 mg", "7 mg"), ("5 mg aspirin", "0.005 g ASA")]
    if through == "corrected":
        with_facts_read = corrected(with_facts_read, {})
    if through == "scorer":
        scorer = PairScorer(with_facts_read, [text for pair in pairs for text in pair])
        p = scorer.score(np.array([0, 2]), np.array([1, 3]))
    else:
        p = with_facts_read.score(pairs)
    assert p.tolist() == [0.0, 0.9]
    assert [tuple(sorted(pair)) for pair in raw.pairs] == [("5 mg ASA", "5 mg aspirin")]


def test_every_measure_with_a_model_reads_them_and_letters_do_not() -> None:
    nli = measure("nli")
    assert nli.name == "nli" and nli.provenance().facts == VERSION
    bare = measure("nli", facts=False)
    assert bare.provenance().facts is None
    assert type(raw_of(nli)) is type(bare)
    assert measure("indel").provenance().facts is None
    assert under_policy(nli, Policy(ignore=frozenset({"severity"}))).provenance().facts == VERSION
    p = nli.score([("38.5 °C", "38.5 °F"), ("no fever but cough", "no cough but fever"), ("5 mg", "0.005 g")])
    assert p.tolist() == [0.0, 0.0, 1.0]
    assert bare.score([("38.5 °C", "38.5 °F")])[0] > 0.9


def test_blocks_of_vectors_and_pairs_agree() -> None:
    with_facts_read: Any = with_facts(measure("jaccard"))
    texts = ["5 mg aspirin", "0.005 g aspirin", "7 mg aspirin", "fever?", "fever", "rash"]
    every = np.arange(len(texts))
    block = PairScorer(with_facts_read, texts).block(every, every)
    left, right = np.divmod(np.arange(len(texts) ** 2), len(texts))
    pairs = [(texts[i], texts[j]) for i, j in zip(left, right, strict=True)]
    np.testing.assert_allclose(with_facts_read.score(pairs), block.ravel(), atol=1e-6)
    np.testing.assert_allclose(PairScorer(with_facts_read, texts).score(left, right), block.ravel(), atol=1e-6)
    assert block[0, 1] == 1.0 and block[0, 2] == block[3, 4] == np.float32(with_facts_read.unrelated)


def test_what_a_policy_ignores_is_no_fact() -> None:
    nli = softirr.measure("nli", policy={"ignore": {"time", "certainty"}})
    assert nli.score([("fever for 3 days", "fever for 5 days"), ("fever?", "fever")]).tolist() == [1.0, 1.0]
    scorer = PairScorer(nli, ["fever for 3 days", "fever for 5 days"])
    assert scorer.score(np.array([0]), np.array([1])).tolist() == [1.0]


def test_reports_name_the_version_of_the_facts() -> None:
    answers = [softirr.Answer(str(k), who, text) for k in range(3) for who, text in (("ann", "5 mg"), ("ben", "7 mg"))]
    report = softirr.agreement(softirr.AnnotationTable.from_answers(answers), "nli")
    assert report.to_dict()["provenance"]["facts"] == VERSION


HOSTILE = [
    "5 " * 1000,
    "5 mg " * 400,
    "1-" * 1000,
    "1/1/" * 500,
    "no " * 600,
    "?" * 2000,
    "+-" * 1000,
    "twenty-" * 280,
    "more than " * 200,
    "Jan 5 " * 330,
    "9" * 2000 + " mg",
    "1,111," * 330 + " mg",
    "°" * 1000,
    "no a or b " * 1 + "or c " * 390,
    "( ? ) " * 330,
    "day " * 500,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_holds_the_reader(text: str) -> None:
    facts_of("5 mg on Monday, 5 May 2026")
    start = time.process_time()
    facts_of(normalize(text)[:2000])
    assert time.process_time() - start < 0.5


def test_units_are_loaded_when_a_text_has_one() -> None:
    program = (
        "import sys; from softirr.measures.facts import facts_of; [facts_of(t) for t in ('fever', 'no cough')];"
        "assert 'pint' not in sys.modules and 'babel' not in sys.modules; facts_of('0.005 g'); assert 'pint' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
