"""The word lists, the composed terms, and that the challenge set stays apart from them."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import pytest

from lab.train.modifiers import joins, modifiers
from lab.train.morphology import composed
from lab.train.sources import folded_pair
from lab.train.words import (
    CONFUSED,
    LISTS,
    SHORT_FORMS,
    contrasts,
    read_confused,
    read_groups,
    read_list,
    read_sections,
)
from softirr.meaning.lexicon import opposites

KINDS = {
    "synonym", "abbreviation", "lay", "order", "spelling", "plural", "negation", "laterality", "number",
    "look-alike", "opposite", "hypernym", "sibling",
}  # fmt: skip
GOLD = {"equivalent", "different", "first entails second", "second entails first"}


def rows(root, name):
    lines = (root / "tests" / "lab" / "train" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "kind\tfirst\tsecond\tgold"
    return [tuple(line.split("\t")) for line in lines[1:]]


@pytest.fixture(scope="module")
def challenge(root):
    return rows(root, "challenge")


@pytest.fixture(scope="module")
def listed():
    return [*(group for name in LISTS for group in read_groups(name)), *read_confused(), *composed().forms]


@pytest.mark.parametrize("name", [*LISTS, "swaps"])
def test_every_group_has_two_wordings_and_none_twice(name):
    listed = read_list(name)
    assert len(listed.groups) > 50
    headings = set(listed.above)
    for index, group in enumerate(listed.groups):
        assert len({text.casefold() for text in group}) == len(group), group
        assert len(group) > 1 or index in headings, group
        assert all(text == " ".join(text.split()) and text for text in group)


@pytest.mark.parametrize("name", LISTS)
def test_kinds_are_other_concepts_than_their_heading(name):
    listed = read_list(name)
    for group, above in zip(listed.groups, listed.above, strict=True):
        if above is not None:
            assert listed.above[above] is None
            assert {t.casefold() for t in group}.isdisjoint(t.casefold() for t in listed.groups[above]), group


@pytest.mark.parametrize("name", CONFUSED)
def test_confused_texts_are_two_and_none_twice(name):
    groups = read_groups(name)
    assert len(groups) > 300
    assert all(len(group) == 2 for group in groups)
    assert len({folded_pair(*group) for group in groups}) == len(groups)
    assert all(first != second for first, second in (folded_pair(*group) for group in groups))


def test_confused_texts_are_neither_the_same_nor_one_above_the_other():
    meanings: dict[str, set[tuple[str, int]]] = {}
    above = {}
    for name in LISTS:
        listed = read_list(name)
        for k, (group, organ) in enumerate(zip(listed.groups, listed.above, strict=True)):
            above[name, k] = (name, organ)
            for text in group:
                meanings.setdefault(text.casefold(), set()).add((name, k))
    for pair in read_confused():
        first, second = (meanings.get(text.casefold(), set()) for text in pair)
        assert first.isdisjoint(second), pair
        assert not any(above[k] in second for k in first) and not any(above[k] in first for k in second), pair


@pytest.mark.parametrize("name", SHORT_FORMS)
def test_abbreviations_come_first(name):
    listed = read_list(name)
    concepts = [
        g for g, organ in zip(listed.groups, listed.above, strict=True) if organ is not None or name == "abbreviations"
    ]
    assert sum(" " not in group[0] for group in concepts) > 0.8 * len(concepts)


def test_challenge_set_covers_every_kind(challenge):
    assert len(challenge) >= 300
    kinds = Counter(kind for kind, *_ in challenge)
    assert set(kinds) == KINDS
    assert min(count for kind, count in kinds.items() if kind != "plural") >= 20
    assert {gold for *_, gold in challenge} == GOLD
    pairs = [folded_pair(first, second) for _, first, second, _ in challenge]
    assert len(set(zip(pairs, (gold for *_, gold in challenge), strict=True))) == len(challenge)


@pytest.mark.parametrize("name", ["challenge", "second_challenge"])
def test_lists_contain_no_challenge_pair(name, root, listed):
    known_terms = {folded_pair(a, b) for group in listed for a, b in itertools.combinations(group, 2)}
    shared = [row for row in rows(root, name) if folded_pair(row[1], row[2]) in known_terms]
    assert shared == []


def test_a_third_of_the_challenge_set_shares_no_term_with_the_lists(challenge, listed):
    terms = {text.casefold() for group in listed for text in group}
    apart = [row for row in challenge if row[1].casefold() not in terms and row[2].casefold() not in terms]
    assert len(apart) >= len(challenge) / 3


def test_composed_terms_follow_the_rules_of_word_formation():
    forms = {text: group for group in composed().forms for text in group}
    assert "kidney inflammation" in forms["nephritis"]
    assert "high blood potassium" in forms["hyperkalemia"]
    assert "low white blood cell count" in forms["leukopenia"]
    assert "carditis" in forms and "cardiomegaly" in forms and "eosinophilia" in forms
    assert "enlarged heart" not in forms["carditis"]


def test_composed_terms_have_broader_terms():
    graph = composed()
    organ = {text: k for k, group in enumerate(graph.forms) for text in group}

    def above(text: str) -> set[str]:
        return {graph.forms[p][0] for p in graph.ancestors(organ[text])}

    assert {"nephropathy", "abnormal kidney"} == above("nephritis")
    assert "hand pain" in above("painful thumb")
    assert "injured foot" in above("broken big toe") and "broken foot" not in above("broken big toe")
    assert "short finger" not in above("short thumb")
    assert above("nephrectomy") == {"kidney surgery"}
    assert all(k not in graph.ancestors(k) for k in range(len(graph)))


def test_broader_terms_are_composed_too():
    tables = dict(read_sections("composed_words"))
    names = {
        line.split("|")[0] for table in (tables["stems"], tables["phrases"], tables["part_phrases"]) for line in table
    }
    organs = {line.split("|")[0] for line in tables["organs"]}
    organs |= {word.split(",")[0].replace("_", " ") for word in " ".join(tables["parts"]).split()}
    for table, known_terms in (
        (tables["kinds_of"], names),
        (tables["shared_with_whole"], names),
        (tables["parts_of"], organs),
    ):
        assert {word for line in table for word in line.split("|")} <= known_terms


def test_composed_contrasts_are_other_concepts():
    graph = composed()
    for k in range(0, len(graph), 97):
        terms = {t.casefold() for t in graph.forms[k]}
        assert graph.contrasts[k]
        assert k not in graph.contrasts[k]
        assert any(terms.isdisjoint(t.casefold() for t in graph.forms[j]) for j in graph.contrasts[k])


def test_modifiers_contain_their_text():
    for modifier in modifiers():
        assert len(modifier.groups) > 1
        for wording in itertools.chain.from_iterable(modifier.groups):
            assert "finding" in wording.format("finding")
    for join in joins():
        assert all(
            "cough" in w.format("cough", "fever") and "fever" in w.format("cough", "fever") for w in join.wordings
        )


def test_groups_of_one_class_share_no_wording():
    for modifier in modifiers():
        counts = Counter(w for group in modifier.groups for w in set(group))
        assert max(counts.values()) == 1, counts.most_common(1)


def test_amounts_of_one_group_are_equal_and_of_two_are_not():
    units = {"min": 1, "minutes": 1} | dict.fromkeys(("h", "hours", "hour"), 60)
    units |= dict.fromkeys(("day", "days"), 1440) | dict.fromkeys(("week", "weeks"), 10080)
    units |= {"mcg": 1e-6, "micrograms": 1e-6, "mg": 1e-3, "g": 1.0}
    amount = re.compile(r"([\d.]+) ?([a-z]+)$")
    for name in ("24 hours", "500 mg"):
        modifier = next(m for m in modifiers() if any(w.endswith(name) for group in m.groups for w in group))
        known_terms = [
            {round(float(m[1]) * units[m[2]], 6) for w in group if (m := amount.search(w)) and m[2] in units}
            for group in modifier.groups
        ]
        assert all(len(values) <= 1 for values in known_terms)
        amounts = [value for values in known_terms for value in values]
        assert len(amounts) > 6 and len(set(amounts)) == len(amounts)


def test_opposites_are_two_words_and_kinds_several():
    assert all(len(pair) == 2 and pair[0] != pair[1] for pair in opposites("contrast"))
    assert all(len(set(line)) == len(line) > 2 for line in contrasts())
