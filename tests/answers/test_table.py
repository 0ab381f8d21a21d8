"""Readers and the table: which answers count, and the notes about the others."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import softirr
from softirr.answers.answer import COPIED, COPIED_AND_EDITED, DRAFT, NO_RATER, OLDER_DUPLICATE, SKIPPED
from softirr.answers.files import read
from softirr.answers.table import AnnotationTable, Answer, Excluded
from softirr.errors import InputError
from softirr.text import is_blank, normalize
from tests.answers.plain_rows import annotation, json_file, refusal, region, rows, task, task_rows

SHY = "\u00ad\u200b\u200c\u200d\u0301\u212aﬁ\u1e9eاक\u094d\u2adc\u2329❤👩"
"""Invisible characters, and neighbors that composition or case folding changes."""


class TestText:
    @pytest.mark.parametrize("mark", list("\u00ad\u200b\u200c\u200d\u200e\u2060\u2066\ufe0f\ufeff\u115f\u034f"))
    def test_invisible_characters_are_not_content(self, mark):
        assert normalize(f"{mark}fe{mark}ver {mark}") == "fever"
        assert normalize(f"e{mark}\u0301") == "\u00e9"
        assert is_blank(f" {mark}")

    def test_joiners_stay_where_a_script_needs_them(self):
        for text in ("می\u200cخواهم", "क्\u200dष", "👩\u200d⚕"):
            assert normalize(text) == text
        assert normalize("می\u200c\u200cخواهم\u200d ") == "می\u200cخواهم"

    @given(st.text(st.characters(exclude_categories=()) | st.sampled_from(SHY), max_size=40), st.booleans())
    def test_normal_form_is_stable_and_survives_utf8(self, text, casefold):
        normal_form = normalize(text, casefold=casefold)
        normal_form.encode("utf-8")
        assert normalize(normal_form, casefold=casefold) == normal_form


class TestNames:
    """Ids of items and raters in their normal form."""

    @pytest.mark.parametrize("variant", ["e\u0301va", "\u00e9\u200bva", "\u00adéva", "éva "])
    def test_ids_that_look_the_same_are_the_same(self, variant):
        long = read(io.StringIO(f"item,rater,text\néva,éva,x\n1,bob,x\n{variant},bob,y\n1,{variant},x\n"))
        wide = read(io.StringIO(f"case,ann,bob\n{variant},x,y\n"), item="case", raters=["ann", "bob"])
        lines = "".join(
            json.dumps({"item": item, "rater": rater, "texts": ["x"]}) + "\n"
            for item, rater in (("éva", "éva"), (variant, "bob"), ("1", variant))
        )
        assert (long.items, long.raters) == (("éva", "1"), ("éva", "bob"))
        assert wide.items == ("éva",)
        assert read(io.StringIO(lines)).raters == ("éva", "bob")

    def test_column_is_found_in_any_unicode_composition(self):
        table = read(io.StringIO("case,e\u0301va,bob\n1,x,y\n"), item="case", raters=["éva", "bob"])
        assert table.raters == ("éva", "bob")

    def test_a_cell_of_invisible_characters_is_blank(self):
        table = read(io.StringIO("case,ann,bob\n1,x,\u200b\n"), item="case", raters=["ann", "bob"])
        assert rows(table) == {("1", "ann", ("x",))}
        assert table.reading.n_blank == 1


class TestTable:
    def test_missing_is_not_empty(self):
        table = AnnotationTable.from_answers([Answer("1", "a", ()), Answer("2", "b", ("x",))], items=["1", "2", "3"])
        assert table.items == ("1", "2", "3")
        assert rows(table) == {("1", "a", ()), ("2", "b", ("x",))}
        assert not table.is_single

    def test_an_answer_is_a_set_of_normalized_texts(self):
        table = AnnotationTable.from_answers(
            [Answer("1", "a", ("fever", " fever ", "", "cough")), Answer("1", "b", ("cough", "fever"))]
        )
        assert table.texts == ("cough", "fever")
        assert len(table.answers) == 1

    def test_two_answers_of_one_rater_are_refused(self):
        with pytest.raises(InputError, match="'a' has two answers for item '1'"):
            AnnotationTable.from_answers([Answer("1", "a", ("x",)), Answer("1", "a", ("y",))])


class TestLabelStudio:
    def test_one_result_with_two_strings_equals_two_results(self):
        single_result = annotation(1, 7, "fever", "cough")
        two = {**annotation(2, 8), "result": [region(["fever"]), region(["cough"])]}
        answers, excluded = task_rows(task(5, single_result, two), "findings")
        assert answers == [Answer("5", "7", ("fever", "cough")), Answer("5", "8", ("fever", "cough"))]
        assert excluded == []

    def test_excluded_annotations_are_listed_with_the_reason(self):
        whole_task = task(
            5,
            annotation(1, 1, "fever", was_cancelled=True),
            annotation(2, 2, "old", updated_at="2026-01-01T00:00:00Z"),
            annotation(3, 2, "new", updated_at="2026-01-02T00:00:00Z"),
            {**annotation(4, 3), "result": [region(["copied"], origin="prediction")]},
            {**annotation(5, 4), "result": [region(["edited"], origin="prediction-changed")]},
            annotation(6, None, "nobody"),
            {**annotation(7, 6), "result": [region(["taken over"])], "parent_prediction": 12},
            annotation(8, {"id": 7, "email": "g@example.com"}),
            drafts=[{"user": "h@example.com", "result": [region(["draft"])]}],
        )
        answers, excluded = task_rows(whole_task, "findings")
        assert answers == [Answer("5", "2", ("new",)), Answer("5", "7", ())]
        assert [(e.rater, e.reason) for e in excluded] == [
            ("1", SKIPPED),
            ("2", OLDER_DUPLICATE),
            ("3", COPIED),
            ("4", COPIED_AND_EDITED),
            ("", NO_RATER),
            ("6", COPIED),
            ("h@example.com", DRAFT),
        ]

    def test_newest_answer_counts_in_any_order(self):
        newest_first = task(
            1, annotation(9, 1, "new", updated_at="2026-02-01"), annotation(8, 1, "old", updated_at="2026-01-01")
        )
        assert task_rows(newest_first, "findings")[0] == [Answer("1", "1", ("new",))]

    def test_model_predictions_are_raters_only_on_request_and_never_ours(self):
        whole_task = task(
            1,
            annotation(1, 1, "fever"),
            predictions=[
                {"id": 4, "model_version": "agreement", "result": [region(["fever"])]},
                {"id": 5, "model_version": "m2", "result": [region(["pyrexia"])]},
            ],
        )
        assert len(task_rows(whole_task, "findings")[0]) == 1
        assert task_rows(whole_task, "findings", predictions=True)[0][1] == Answer("1", "model:m2", ("pyrexia",))

    def test_controls_are_found_and_one_has_to_be_chosen(self, tmp_path):
        two_controls = {**annotation(1, 1), "result": [region(["x"]), region(["y"], name="plan"), {"type": "choices"}]}
        path = json_file(tmp_path / "export.json", [task(1, two_controls)])
        assert "several TextArea controls (findings, plan): choose one with control=" in refusal(path)
        assert rows(read(path, control="plan")) == {("1", "1", ("y",))}
        assert "no TextArea named 'other'" in refusal(path, control="other")

    def test_per_region_texts_are_pooled(self):
        with_regions = {
            **annotation(1, 1),
            "result": [
                {"id": "r1", "from_name": "lab", "type": "labels", "value": {"start": 0, "end": 3}},
                region(["a"], id="r1"),
                region(["b"], id="r2"),
            ],
        }
        assert task_rows(task(1, with_regions), "findings")[0] == [Answer("1", "1", ("a", "b"))]

    @pytest.mark.slow
    def test_unneeded_parts_of_a_large_export_are_not_kept_in_memory(self, tmp_path):
        shape = {"type": "brushlabels", "from_name": "shape", "value": {"rle": list(range(1000, 3000))}}
        tasks = [task(k, annotation(k, 1, "x")) | {"data": {"signal": list(range(1000, 5000))}} for k in range(100)]
        for entry in tasks:
            entry["annotations"][0]["result"].append(shape)
        path = json_file(tmp_path / "export.json", tasks)
        tracemalloc.start()
        try:
            table = read(path)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert len(table.items) == 100
        assert peak < 3.5 * path.stat().st_size, "the file's bytes and text, and little else"


class TestCsv:
    def test_several_rows_are_a_set_and_an_empty_text_is_an_empty_answer(self, tmp_path):
        path = tmp_path / "answers.csv"
        path.write_bytes('\ufeffitem,rater,text\r\n1,a,fever\r\n1,a,"cough, dry"\r\n1,b,\r\n'.encode())
        assert rows(read(path)) == {("1", "a", ("cough, dry", "fever")), ("1", "b", ())}

    @pytest.mark.parametrize("delimiter", [";", "\t"])
    def test_other_delimiters_and_column_orders(self, delimiter):
        lines = [["text", "Item", "rater", "note"], ["x", "1", "a", "-"]]
        assert rows(read(io.StringIO("\n".join(delimiter.join(line) for line in lines)))) == {("1", "a", ("x",))}


class TestJsonl:
    def test_null_is_missing_and_a_later_line_replaces(self):
        lines = [
            {"item": 1, "rater": "a", "texts": ["old"]},
            {"item": 1, "rater": "a", "texts": ["new"]},
            {"item": "2", "rater": "a", "texts": None},
            {"item": "2", "rater": "b", "texts": []},
        ]
        table = read(io.StringIO("\n".join(json.dumps(line) for line in lines)))
        assert rows(table) == {("1", "a", ("new",)), ("2", "b", ())}
        assert table.excluded == (Excluded("1", "a", OLDER_DUPLICATE),)


def test_a_control_for_a_csv_is_refused():
    assert "not a Label Studio export" in refusal("item,rater,text\n1,a,x\n", control="findings")


class TestRenamedTextArea:
    """An export holds no label config; a warning names the consequences."""

    @staticmethod
    def warned(tmp_path, *tasks):
        path = json_file(tmp_path / "export.json", list(tasks))
        report = softirr.agreement(softirr.read(path, control="signs"), measure="indel")
        return [warning for warning in report.warnings if "TextArea" in warning]

    @staticmethod
    def labeled(number, rater, *regions, **more):
        return annotation(number, rater, **more) | {"result": list(regions)}

    def test_answers_only_under_another_control_cause_a_warning(self, tmp_path):
        old, new = region(["fever"], name="findings"), region(["fever"], name="signs")
        tasks = [
            task(n, self.labeled(2 * n, 1, new), self.labeled(2 * n + 1, 2, old if n < 3 else new)) for n in range(5)
        ]
        (warning,) = self.warned(tmp_path, *tasks)
        assert warning.startswith("3 annotations have texts under the TextArea findings and none under signs")

    def test_two_text_areas_of_one_label_config_are_not(self, tmp_path):
        other_region, new = region(["fever"], name="findings"), region(["fever"], name="signs")
        tasks = [
            task(n, self.labeled(2 * n, 1, new, other_region), self.labeled(2 * n + 1, 2, other_region))
            for n in range(5)
        ]
        assert self.warned(tmp_path, *tasks) == []

    def test_skipped_annotations_are_not(self, tmp_path):
        old, new = region(["fever"], name="findings"), region(["fever"], name="signs")
        annotations = [self.labeled(1, 1, new), self.labeled(2, 2, new), self.labeled(3, 3, old, was_cancelled=True)]
        assert self.warned(tmp_path, task(1, *annotations)) == []
