"""The report for a paper in its four formats, and evidence bundles that are made, damaged and verified."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import docx
import pytest

import softirr
from softirr.cli.main import main
from softirr.errors import InputError
from softirr.paper.bundle import read_bundle
from softirr.paper.document import Document, document
from softirr.paper.references import bibtex, references
from softirr.paper.writers import FORMATS, as_html, as_latex, as_markdown, beyond_latin
from tests import Cli

NASTY = "ann_&%$#{}~^\\<b>|"
INDEL = ("--measure", "indel")
SETTINGS = (*INDEL, "--casefold", "--more-general", "strict", "--seed", "3")
WORDS = ("fever", "dry cough", "skin rash", "nausea", "headache", "back pain")


def _csv(path: Path, raters: tuple[str, ...] = ("ann", "bob", "cid"), n: int = 24) -> str:
    rows = [
        f'{item},"{rater}",{WORDS[(item + (item % 4 == k)) % len(WORDS)]} {item % 3}'
        for item in range(n)
        for k, rater in enumerate(raters)
    ]
    path.write_text("\n".join(["item,rater,text", *rows]) + "\n")
    return str(path)


def _judged(path: Path, answers: str, cli: Cli) -> str:
    head, *rows = cli("audit", "sample", answers, *INDEL).splitlines()
    path.write_text("\n".join([head, *(f"{row}{'same' if n % 4 == 0 else 'different'}" for n, row in enumerate(rows))]))
    return str(path)


@pytest.fixture(scope="module")
def report() -> dict[str, object]:
    rows = [(str(i), rater, WORDS[(i + (i % 4 == k)) % 6]) for i in range(12) for k, rater in enumerate((NASTY, "bob"))]
    return softirr.agreement(
        softirr.AnnotationTable.from_answers(softirr.Answer(*row) for row in rows), "indel"
    ).to_dict()


class TestWhatIsSaid:
    @pytest.mark.parametrize("n", [2, 1_001])
    def test_intervals_of_raters_cover_what_they_are_computed_from(self, report: dict[str, object], n: int) -> None:
        methods = " ".join(str(part) for part in document(report | {"n_raters": n}).methods)
        assert "95% intervals, including the intervals of single raters, cover the sampling of items" in methods
        assert ("single ones have intervals for the sampling of items only" in methods) == (n > 1_000)

    def test_everything_a_reviewer_asks(self, tmp_path: Path, cli: Cli) -> None:
        answers = _csv(tmp_path / "a.csv")
        sheet = _judged(tmp_path / "sheet.csv", answers, cli)
        # judgments count under another policy
        assert "were judged by one judge" in cli("report", answers, *INDEL, "--sheets", sheet, "--ignore", "side")
        stdout = cli("report", answers, *INDEL, "--sheets", sheet)
        for words in (
            "24 items were annotated in free text by 3 raters",
            "scored by the measure indel",
            "Texts were compared as they were written.",
            "Krippendorff's alpha \\(Krippendorff 2011\\)".replace("\\", ""),
            "drawn at random with known probabilities, were judged by one judge",
            "By the measure alone it would be",
            f"computed by softirr {softirr.__version__} with the seed 0 from data with the SHA-256",
            "below 30 the intervals are rough",
        ):
            assert words in stdout.replace("\\", ""), words
        for fact in ("items have", "Items are scored by the measure alone"):
            assert stdout.partition("## Limitations")[2].count(fact) == 1, fact

    def test_a_policy_and_an_unaudited_coefficient(self, tmp_path: Path, cli: Cli) -> None:
        stdout = cli("report", _csv(tmp_path / "a.csv"), *INDEL, "--ignore", "severity")
        assert "What counted as the same:" in stdout and "The coefficients are not audited." in stdout

    def test_references_are_those_that_are_cited(self, report: dict[str, object]) -> None:
        methods = document(report)
        assert set(methods.cited) <= set(references()) and {"krippendorff2011", "landis1977"} <= set(methods.cited)
        assert len(re.findall(r"^@", bibtex(methods.cited), flags=re.MULTILINE)) == len(methods.cited)


def _of(report: dict[str, object], rater: str) -> Document:
    """The document of a report in which a rater has another name."""
    return document(json.loads(json.dumps(report).replace(json.dumps(NASTY), json.dumps(rater))))


class _Balanced(HTMLParser):
    open: list[str]

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "line", "circle", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "circle", "rect"):
            assert self.open.pop() == tag


class TestFormats:
    def test_markdown_escapes_names(self, report: dict[str, object]) -> None:
        markdown = as_markdown(document(report))
        assert r"ann\_&%\$\#\{\}\~^\\\<b\>\|" in markdown

    def test_html_is_balanced_and_escaped(self, report: dict[str, object]) -> None:
        page = as_html(document(report))
        parser = _Balanced()
        parser.open = []
        parser.feed(page)
        assert parser.open == [] and "<b>" not in page and "&lt;b&gt;" in page

    def test_latex_is_well_formed(self, report: dict[str, object]) -> None:
        page = as_latex(document(report))
        environments: list[str] = []
        for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", page):
            if what == "begin":
                environments.append(name)
            else:
                assert environments.pop() == name
        plain = re.sub(r"\\[\\&%$#_{}]", "", page)
        assert environments == [] and plain.count("{") == plain.count("}")
        assert all(ord(mark) < 0x180 for mark in page)
        for table in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", page, flags=re.DOTALL):
            rows = [line for line in table[1].splitlines() if line.endswith(r"\\")]
            assert {len(re.findall(r"(?<!\\)&", row)) + 1 for row in rows} == {len(table[0])}
        cited = {key for keys in re.findall(r"\\cite\{([^}]+)\}", page) for key in keys.split(",")}
        assert cited <= set(re.findall(r"\\bibitem\{(\w+)\}", page))

    @pytest.mark.skipif(not any(map(shutil.which, ("pdflatex", "tectonic"))), reason="neither pdflatex nor tectonic")
    @pytest.mark.parametrize("rater", [NASTY, "Анна Ħ. 熱 כהן"])
    def test_latex_compiles(self, rater: str, report: dict[str, object], tmp_path: Path) -> None:
        (tmp_path / "report.tex").write_text(as_latex(_of(report, rater)), encoding="utf-8")
        program = shutil.which("pdflatex")
        words = [program, "-interaction=nonstopmode", "-halt-on-error"] if program else ["tectonic"]
        done = subprocess.run([*words, "report.tex"], cwd=tmp_path, capture_output=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        # no text runs into the margin, such as the hash of the data
        assert re.findall(rb"Overfull[^\n]*\n(\\T1[^\n]*)", done.stdout) == []

    @pytest.mark.slow
    @pytest.mark.skipif(not shutil.which("xelatex"), reason="no xelatex")
    def test_xelatex_has_all_letters(self, report: dict[str, object], tmp_path: Path) -> None:
        (tmp_path / "report.tex").write_text(as_latex(_of(report, "Анна Ħ. כהן")), encoding="utf-8")
        words = ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=300, check=False)
        log = (tmp_path / "report.log").read_text(encoding="utf-8", errors="replace")
        if "`fontspec.sty' not found" in log:
            pytest.skip("no fontspec")
        assert done.returncode == 0, log[-2000:]
        assert "Missing character" not in log

    def test_letters_beyond_latin_stay_in_the_file(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], report: dict[str, object]
    ) -> None:
        answers = _csv(tmp_path / "a.csv", raters=("Анна Вер", "Ħal", "bob"))
        assert main(["report", answers, "--measure", "indel", "--format", "latex"]) == 0
        output = capsys.readouterr()
        assert r"\unicodetext{Анна Вер} &" in output.out and r"\unicodetext{Ħ}al &" in output.out
        assert "A question mark replaces letters" in output.out
        assert "pdflatex has no sign for 8 of the letters" in output.err
        assert r"\unicodeleft{כהן}" in as_latex(_of(report, "כהן"))
        assert beyond_latin(document(report)) == 0 and "unicodetext" not in as_latex(document(report))

    def test_a_hash_can_be_broken_in_latex(self, report: dict[str, object]) -> None:
        page = as_latex(document(report))
        (written,) = re.findall(r"SHA-256 (\S+)\.", page)
        assert len(written.replace(r"\allowbreak{}", "")) == 64 and max(map(len, written.split(r"\allowbreak{}"))) == 8

    def test_a_word_file_opens(self, tmp_path: Path, cli: Cli) -> None:
        answers, path = _csv(tmp_path / "a.csv"), tmp_path / "report.docx"
        cli("report", answers, *INDEL, "--format", "docx", "--output", path)
        page = docx.Document(str(path))
        assert [p.text for p in page.paragraphs if p.style.name == "Heading 1"] == [
            *("Methods", "Results", "Limitations", "References"),
        ]
        assert page.tables[0].rows[1].cells[0].paragraphs[0].paragraph_format.keep_with_next
        assert page.tables[0].rows[1].cells[0].text == "Krippendorff's alpha" and len(page.inline_shapes) == 1
        assert "name a file with --output" in cli("report", answers, *INDEL, "--format", "docx", status=2)

    @pytest.mark.parametrize("format", sorted(FORMATS))
    def test_a_table_without_agreement(self, format: str) -> None:
        table = softirr.AnnotationTable.from_answers([softirr.Answer("1", "a", "x"), softirr.Answer("2", "b", "y")])
        assert FORMATS[format](document(softirr.agreement(table, "exact").to_dict()))


def _changed(bundle: Path, change: Callable[[dict[str, bytes]], None]) -> str:
    with zipfile.ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    target = bundle.with_name("changed.zip")
    target.write_bytes(out.getvalue())
    return str(target)


def _edit(members: dict[str, bytes], /, **changes: object) -> None:
    manifest = json.loads(members["manifest.json"])
    members["manifest.json"] = json.dumps({**manifest, **changes}).encode()


class TestBundles:
    @pytest.fixture
    def bundle(self, tmp_path: Path, cli: Cli) -> Path:
        path = tmp_path / "bundle.zip"
        cli("report", _csv(tmp_path / "a.csv"), *SETTINGS, "--bundle", path)
        return path

    def test_it_is_computed_again(self, bundle: Path, cli: Cli) -> None:
        (bundle.parent / "a.csv").unlink()
        result = cli("verify", bundle, "--json")
        assert result["ok"] is True and result["computed_again"] is True
        assert {"members", "report", "numbers"} <= {check["what"] for check in result["checks"]}

    def test_an_audited_one(self, tmp_path: Path, cli: Cli) -> None:
        answers = _csv(tmp_path / "a.csv")
        sheet, path = _judged(tmp_path / "sheet.csv", answers, cli), tmp_path / "bundle.zip"
        cli("report", answers, *INDEL, "--sheets", sheet, "--bundle", path)
        assert "All that was compared is the same." in cli("verify", path)

    def test_a_changed_member_is_refused(self, bundle: Path, cli: Cli) -> None:
        def change(members: dict[str, bytes]) -> None:
            members["inputs/0-a.csv"] += b"99,ann,pain\n"

        assert "inputs/0-a.csv was changed" in cli("verify", _changed(bundle, change), status=2)

    def test_numbers_that_were_changed_with_their_hashes_differ(self, bundle: Path, cli: Cli) -> None:
        from hashlib import sha256

        def change(members: dict[str, bytes]) -> None:
            report = json.loads(members["report.json"])
            report["coefficients"]["cohen_kappa"]["value"] += 0.1
            members["report.json"] = json.dumps(report).encode()
            manifest = json.loads(members["manifest.json"])
            manifest["numbers"]["cohen_kappa"] += 0.1
            manifest["members"]["report.json"] = sha256(members["report.json"]).hexdigest()
            _edit(members, **manifest)

        stdout = cli("verify", _changed(bundle, change), status=1)
        assert "differs      numbers: cohen_kappa is" in stdout and "Something differs." in stdout

    def test_without_texts_nobody_reads_them_and_hashes_compare(self, tmp_path: Path, cli: Cli) -> None:
        answers, path = _csv(tmp_path / "a.csv"), tmp_path / "bundle.zip"
        cli("report", answers, *INDEL, "--bundle", path, "--without-texts")
        with zipfile.ZipFile(path) as archive:
            whole = b"".join(archive.read(name) for name in archive.namelist())
        assert not any(word.encode() in whole for word in WORDS)
        assert "The hashes are right; nothing was computed again." in cli("verify", path)
        assert "All that was compared is the same." in cli("verify", path, "--data", answers)
        other = _csv(tmp_path / "other.csv", n=25)
        assert "no file named here has the hash of the bundle" in cli("verify", path, "--data", other, status=1)

    def test_it_loads_no_model_that_only_the_bundle_names(self, bundle: Path, cli: Cli) -> None:
        def change(members: dict[str, bytes]) -> None:
            settings = json.loads(members["manifest.json"])["settings"]
            _edit(members, settings={**settings, "measure": "nli:evil/model", "cache": "postgresql://evil", "run": 1})

        assert "say --measure nli:evil/model to load it" in cli("verify", _changed(bundle, change))

    def test_settings_that_no_command_takes(self, bundle: Path, cli: Cli) -> None:
        def change(members: dict[str, bytes]) -> None:
            settings = json.loads(members["manifest.json"])["settings"]
            _edit(members, settings={**settings, "permutations": "many", "control": ["x"]})

        cli("verify", _changed(bundle, change), status=2)

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive"])
    def test_what_is_no_bundle(self, content: bytes, tmp_path: Path, cli: Cli) -> None:
        path = tmp_path / "x.zip"
        path.write_bytes(content)
        assert "is damaged, or not an evidence bundle of softirr" in cli("verify", path, status=2)

    @pytest.mark.parametrize(
        "change",
        [
            *({key: None} for key in ("inputs", "numbers", "settings", "versions")),
            *({"inputs": inputs} for inputs in ([5], [{"role": "data"}], [{"role": "x", "name": "a", "member": None}])),
        ],
        ids=str,
    )
    def test_a_manifest_of_others(self, change: dict[str, object], bundle: Path, cli: Cli) -> None:
        error = cli("verify", _changed(bundle, lambda members: _edit(members, **change)), status=2)
        assert "a manifest that softirr did not write" in error

    def test_a_damaged_one(self, bundle: Path) -> None:
        content, refusals = bundle.read_bytes(), 0
        for place in range(0, len(content), 7):
            try:
                read_bundle(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :], "b.zip")
            except InputError:
                refusals += 1
        assert refusals > len(content) / 7 * 0.9

    def test_a_folder_is_packed_first(self, tmp_path: Path, cli: Cli) -> None:
        error = cli("report", tmp_path, *INDEL, "--bundle", tmp_path / "bundle.zip", status=2)
        assert "make a ZIP archive of the folder" in error

    @pytest.mark.parametrize("member", ["manifest.json", "report.json"])
    def test_a_missing_member(self, member: str, bundle: Path, cli: Cli) -> None:
        def change(members: dict[str, bytes]) -> None:
            del members[member]

        assert re.search("evidence bundle|is missing", cli("verify", _changed(bundle, change), status=2))

    def test_it_is_the_same_file_each_time(self, bundle: Path, cli: Cli) -> None:
        again = bundle.with_name("again.zip")
        cli("report", bundle.parent / "a.csv", *SETTINGS, "--bundle", again)
        assert again.read_bytes() == bundle.read_bytes()
