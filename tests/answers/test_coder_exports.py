"""Exports of AnnData, LightTag, Datasaur and NVivo beside their plain forms, and what each refusal asks for."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import softirr
from tests.answers.formats.annotation_tools import datasaur, lighttag
from tests.answers.formats.coders import qualcoder
from tests.answers.formats.common import ANSWERS, text_table, workbook
from tests.answers.formats.statistics_files import anndata
from tests.answers.plain_rows import answers, refusal


class TestAnnData:
    def test_columns_are_shown(self, tmp_path: Path) -> None:
        assert "has no column 'cell'; it has index, n_genes, ann, bob, cy" in refusal(
            anndata(tmp_path), item="cell", raters=["ann"]
        )

    def test_categories_of_version_07(self, tmp_path: Path) -> None:
        path = tmp_path / "old.h5ad"
        with h5py.File(path, "w") as file:
            obs = file.create_group("obs")
            obs.attrs["_index"], obs.attrs["column-order"] = "cell", np.array(["ann", "bob"], dtype=object)
            obs.create_dataset("cell", data=["c1", "c2"], dtype=h5py.string_dtype())
            obs["ann"], obs["bob"] = np.array([0, 1], dtype=np.int8), np.array([1, -1], dtype=np.int8)
            for name in ("ann", "bob"):
                obs.create_dataset(f"__categories/{name}", data=["T cell", "B cell"], dtype=h5py.string_dtype())
        table = softirr.read(path, item="cell", raters=["ann", "bob"])
        assert answers(table) == {("c1", "ann"): ("T cell",), ("c2", "ann"): ("B cell",), ("c1", "bob"): ("B cell",)}

    def test_other_hdf5_files(self, tmp_path: Path) -> None:
        path = tmp_path / "model.h5"
        with h5py.File(path, "w") as file:
            file["weights"] = np.zeros(3)
        assert "HDF5 file without the table obs of AnnData: save its table as CSV" in refusal(path)
        with h5py.File(path, "w") as file:
            file["obs"] = np.zeros(3, dtype=[("index", "i4")])
        assert "written by anndata before version 0.7" in refusal(path)

    @pytest.mark.parametrize("column", ["external", "square", "compound"])
    def test_columns_that_are_no_plain_values_of_the_file(self, column: str, tmp_path: Path) -> None:
        path, secret = anndata(tmp_path), tmp_path / "secret"
        secret.write_text("password")
        with h5py.File(path, "a") as file:
            n = len(file["obs"][file["obs"].attrs["_index"]])
            del file["obs"]["ann"]
            if column == "external":
                file["obs"].create_dataset("ann", shape=(n,), dtype="S1", external=[(str(secret), 0, n)])
            else:
                file["obs"]["ann"] = np.zeros((n, 2)) if column == "square" else np.zeros(n, dtype=[("a", "i4")])
        assert "damaged AnnData file" in refusal(path, item="index", raters=["ann", "bob"])


class TestLightTag:
    def job(self, folder: Path, **example: object) -> Path:
        by = [{"annotator_id": n, "annotator": name} for n, name in enumerate(("ann", "bob"))]
        one = {
            "example_id": "e1",
            "content": "Fever",
            "annotations": [],
            "classifications": [],
            "seen_by": by,
            **example,
        }
        path = folder / "job.json"
        path.write_text(json.dumps({"name": "j", "examples": [one], "schema": {}}), encoding="utf-8")
        return path

    def tag(self, start: int, end: int, name: str, rater: str) -> dict[str, object]:
        return {"start": start, "end": end, "tag": name, "value": "", "annotated_by": [{"annotator": rater}]}

    def test_tags_are_codes_of_passages(self, tmp_path: Path) -> None:
        tags = [self.tag(0, 10, "fever", "ann"), self.tag(1, 10, "high fever", "bob"), self.tag(50, 60, "rash", "bob")]
        table = softirr.read(self.job(tmp_path, annotations=tags))
        assert table.items == ("e1 0-10", "e1 50-60") and set(table.texts) == {"fever", "high fever", "rash"}

    def test_text_chooses_classes_or_tags(self, tmp_path: Path) -> None:
        classes = [{"classname": "ill", "class_id": "c", "classified_by": [{"annotator": "ann"}]}]
        path = self.job(tmp_path, annotations=[self.tag(0, 10, "fever", "ann")], classifications=classes)
        assert "several kinds of annotations" in refusal(path).replace("kind of annotations", "kinds of annotations")
        assert list(softirr.read_texts(path, text=["class", "tag"])) == ["class", "tag"]
        (note,) = softirr.read(path, text="class").warnings
        assert "1 time an annotator saw an example and gave no class" in note
        assert len(softirr.read(path, text="class", empty="none").answers) == 2

    def test_damage(self, tmp_path: Path) -> None:
        assert "annotations is not a list" in refusal(self.job(tmp_path, annotations={"a": 1}))
        assert "has no kind of annotation with texts" in refusal(self.job(tmp_path))
        tag = self.tag(0, 1, "fever", "ann") | {"start": "0"}
        assert "a tag has no start and end" in refusal(self.job(tmp_path, annotations=[tag]))

    def test_damaged_jobs_and_annotators(self, tmp_path: Path) -> None:
        classes = [{"classname": "ill", "classified_by": ["ann", {"annotator": "bob"}]}]
        assert "classified_by names no annotator" in refusal(self.job(tmp_path, classifications=classes))
        job = json.loads(self.job(tmp_path, annotations=[self.tag(0, 1, "a", "ann")]).read_text())
        for other in (5, {"examples": 5}):
            (tmp_path / "jobs.json").write_text(json.dumps([job, other]))
            assert "expected the results of a job of LightTag" in refusal(tmp_path / "jobs.json")

    def test_reviews_do_not_count(self, tmp_path: Path) -> None:
        path = lighttag(tmp_path)
        job = json.loads(path.read_text(encoding="utf-8"))
        for one in job["examples"]:
            one["classifications"][0] |= {"reviewed": True, "correct": False}
        path.write_text(json.dumps(job), encoding="utf-8")
        assert len(softirr.read(path).answer) == len(ANSWERS)


class TestDatasaur:
    def folder(self, tmp_path: Path) -> Path:
        with zipfile.ZipFile(datasaur(tmp_path)) as archive:
            archive.extractall(tmp_path / "export")
        return tmp_path / "export"

    def test_rows_have_names(self, tmp_path: Path) -> None:
        path = self.folder(tmp_path)
        assert softirr.read(path).items == tuple(f"row {n}" for n in range(1, 6))
        assert softirr.read(path, item="case").items == tuple("12345")
        assert "has no column 'patient'; it has case, report, finding" in refusal(path, item="patient")

    def test_without_the_original_the_question_is_asked_for(self, tmp_path: Path) -> None:
        path = self.folder(tmp_path)
        (path / "ROOT" / "cases.csv").unlink()
        assert "name the column of a question with text=" in refusal(path)
        assert len(softirr.read(path, text="finding").answer) == len(ANSWERS)

    def test_rows_of_files_that_only_one_labeler_has_are_not_compared(self, tmp_path: Path) -> None:
        path = self.folder(tmp_path)
        for part in ("ROOT", "DOCUMENT-ann"):
            (path / part / "more.csv").write_text((path / part / "cases.csv").read_text())
        table = softirr.read(path)
        shared = [item for item in table.items if item.startswith("cases.csv")]
        assert len(shared) == 5 and len(table.items) == 10
        assert {table.raters[r] for i, r in zip(table.item, table.rater, strict=True) if i < 5} == {"ann", "bob", "cy"}
        (path / "DOCUMENT-ann" / "cases.csv").unlink()
        assert {table.raters[r] for r in softirr.read(path).rater} == {"ann", "bob", "cy"}
        assert "more.csv 1" in softirr.read(path).items and "cases.csv 1" in softirr.read(path).items

    def test_one_labeler(self, tmp_path: Path) -> None:
        path = self.folder(tmp_path)
        for rater in ("bob", "cy"):
            (path / f"DOCUMENT-{rater}" / "cases.csv").unlink()
        assert "has the work of one labeler" in refusal(path)

    def test_schema_files(self, tmp_path: Path) -> None:
        path = self.folder(tmp_path)
        (path / "DOCUMENT-ann" / "cases.csv").rename(path / "DOCUMENT-ann" / "cases.json")
        (path / "DOCUMENT-ann" / "cases.json").write_text('[{"version": "1.0", "data": {}}]', encoding="utf-8")
        assert "is no table: export the project as CSV" in refusal(path)


def test_a_coding_comparison_of_nvivo_has_no_codes(tmp_path: Path) -> None:
    head = ["Code", "File", "File Folder", "Kappa", "Agreement (%)", "A and B (%)"]
    path = text_table([head, ["Stress", "Interview 1", "Files", "0.61", "97.2", "4.1"]], tmp_path / "comparison.csv")
    assert re.search("coding comparison of NVivo.*export the project as REFI-QDA", refusal(path))


def test_passages_without_a_code_or_a_coder_are_counted(tmp_path: Path) -> None:
    head = ["Source Name", "Hierarchical Name", "Coded By Initials", "Coded Text"]
    rows = [["d", "Codes\\\\Stress", who, "long day"] for who in ("AN", "BO", "")]
    path = text_table([head, *rows, ["d", "", "BO", "other"]], tmp_path / "references.csv")
    table = softirr.read(path)
    assert table.raters == ("AN", "BO") and table.items == ("d: long day",)
    assert table.warnings[-1] == "Passages without a code or a coder, left out: 2."
    assert "has the codes of one coder" in refusal(text_table([head, rows[0], rows[2]], path))


def test_cells_with_an_error_are_no_codes(tmp_path: Path) -> None:
    head = ["Document", "Codes", "Created by", "Quotation Content"]
    path = workbook(
        [head, ["d", "Stress", "ann", "x"], ["d", "#N/A", "bob", "x"], ["d", "Joy", "bob", "x"]], tmp_path / "q.xlsx"
    )
    table = softirr.read(path)
    assert table.texts == ("Joy", "Stress") and table.warnings[-1] == "Passages without a code or a coder, left out: 1."
    path = workbook([head, ["d", "Stress", "ann", "x"], ["d", "Joy", "bob", "#N/A"]], tmp_path / "q.xlsx")
    assert "without their words" in refusal(path)


def test_places_of_passages_that_are_no_numbers(tmp_path: Path) -> None:
    path = qualcoder(tmp_path)
    with contextlib.closing(sqlite3.connect(path / "data.qda")) as database, database:
        database.execute("UPDATE code_text SET pos0 = 'x' WHERE rowid = 1")
    assert "has no start and end in characters" in refusal(path)


def test_columns_of_true_and_false_are_no_raters(tmp_path: Path) -> None:
    head = ["index", "ann", "bob", "doublet"]
    table = [["c1", "T cell", "T cell", "True"], ["c2", "B cell", "B cell", "False"]]
    assert 'use item="index", raters=["ann", "bob"]' in refusal(text_table([head, *table], tmp_path / "cells.csv"))
