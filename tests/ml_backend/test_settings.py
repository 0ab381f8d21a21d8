"""Settings of the operator and of the project, and the source of each setting."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from ml_backend.cli.options import add_options, given_options
from ml_backend.options import checked_options
from ml_backend.project_settings import ProjectSettings, effective, refused
from ml_backend.settings import Settings, clean_url, origin
from softirr.errors import InputError


class TestEnvironment:
    def test_without_anything_set(self) -> None:
        settings = Settings.from_environment({})
        assert settings.label_studio_url == "http://localhost:8080"
        assert settings.database_url == f"sqlite:///{settings.data / 'softirr.sqlite3'}"
        assert settings.cache_url == str(settings.data / "pairs.sqlite3")
        assert (settings.host, settings.port) == ("127.0.0.1", 9090)

    def test_the_names_that_label_studios_own_backends_use(self, tmp_path: Path) -> None:
        settings = Settings.from_environment(
            {
                "LABEL_STUDIO_URL": " https://labels.example/ls/ ",
                "LABEL_STUDIO_API_KEY": "token",
                "BASIC_AUTH_USER": "us",
                "BASIC_AUTH_PASS": "pass word",
                "PORT": "9191",
                "LOG_LEVEL": "debug",
                "WORKERS": "3",
                "THREADS": "5",
                "SOFTIRR_DATA": str(tmp_path),
                "SOFTIRR_LABEL_STUDIO_ORIGINS": "http://a:1, https://b http://c",
            }
        )
        assert settings.label_studio_url == "https://labels.example/ls"
        assert (settings.api_key, settings.basic_auth_user, settings.basic_auth_pass) == ("token", "us", "pass word")
        assert (settings.port, settings.log_level, settings.web_workers, settings.web_threads) == (9191, "DEBUG", 3, 5)
        assert settings.label_studio_origins == ("http://a:1", "https://b", "http://c")
        assert settings.data == tmp_path

    def test_secrets_do_not_show_when_it_is_printed(self) -> None:
        variables = {
            "LABEL_STUDIO_API_KEY": "secret-1",
            "BASIC_AUTH_PASS": "secret-2",
            "SOFTIRR_DATABASE_URL": "postgresql://u:secret-3@h/d",
        }
        assert "secret" not in repr(Settings.from_environment(variables))

    @pytest.mark.parametrize(
        ("name", "value", "says"),
        [
            ("PORT", "many", "not a positive number: many"),
            ("PORT", "0", "not a positive number: 0"),
            ("PORT", "-1", "not a positive number: -1"),
            ("SOFTIRR_RECONCILE_SECONDS", "nan", "not a positive number: nan"),
            ("SOFTIRR_PAGE_SIZE", "2.5", "not a positive number: 2.5"),
            ("LOG_LEVEL", "loud", "none of 'DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'"),
            ("LABEL_STUDIO_URL", "ftp://x", "not an http address: ftp://x"),
            ("LABEL_STUDIO_URL", "http://", "not an http address: http://"),
        ],
    )
    def test_unusable_value_is_refused_in_a_single_sentence(self, name: str, value: str, says: str) -> None:
        with pytest.raises(InputError) as caught:
            Settings.from_environment({name: value})
        assert str(caught.value) == f"{name} is {says}."

    def test_arguments_override_the_environment(self, tmp_path: Path) -> None:
        variables = {"PORT": "1", "SOFTIRR_DATA": "/nowhere", "SOFTIRR_MEASURE": "jaccard"}
        settings = Settings.from_environment(variables, port=2, data=tmp_path, measure=None)
        assert (settings.port, settings.data, settings.measure) == (2, tmp_path, "jaccard")

    def test_other_names_and_values(self, tmp_path: Path) -> None:
        variables = {"LABEL_STUDIO_HOST": "labels:8080", "SOFTIRR_ALLOWED_HOSTS": "A.example, b", "SOFTIRR_CACHE": "x"}
        settings = Settings.from_environment(variables | {"SOFTIRR_MEASURE": "  "})
        assert (settings.label_studio_url, settings.cache_url) == ("http://labels:8080", "x")
        assert (settings.allowed_hosts, settings.measure) == (("a.example", "b"), None)
        assert Settings.from_environment({}, data=tmp_path).cache_url == str(tmp_path / "pairs.sqlite3")


@pytest.mark.parametrize(
    ("address", "cleaned", "where"),
    [
        ("http://labels:8080/", "http://labels:8080", "http://labels:8080"),
        ("labels", "http://labels", "http://labels"),
        ("https://user:pass@Labels.example:443/ls/?a=b#c", "https://Labels.example:443/ls", "https://labels.example"),
        ("http://x:80/projects/3", "http://x:80/projects/3", "http://x"),
    ],
)
def test_addresses(address: str, cleaned: str, where: str) -> None:
    assert clean_url(address, "X") == cleaned
    assert origin(cleaned) == where


@pytest.mark.parametrize("address", ["", "null", "javascript:alert(1)", "http://x:port", "file:///etc", "http://"])
def test_invalid_addresses_have_no_origin(address: str) -> None:
    assert origin(address) == ""


class TestOptions:
    @pytest.mark.parametrize("options", [None, "", [], {}, "{}"])
    def test_none(self, options: Any) -> None:
        assert checked_options(options, source="X") == {}

    def test_all(self) -> None:
        options = {
            "measure": " nli:/models/mine ",
            "controls": "findings",
            "chance": "sample",
            "permutations": 5,
            "threshold": 1,
            "casefold": True,
            "predictions_as_raters": True,
            "regions": "matched",
            "suggestions": False,
            "hide_names": True,
            "predictions": "always",
            "reviewers": ("7", "12"),
            "count_reviewers": True,
            "missing": "NA,n/a",
            "target": 0.7,
            "policy": {"name": "ours", "ignore": ["side"], "more_general": "strict", "split": None},
            "terminologies": ("/x/hp.obo",),
            "fields": ("severity=ordinal:low,high",),
            "score": "lowest",
        }
        checked = checked_options(options, source="X")
        assert checked == {**options, "measure": "nli:/models/mine", "controls": ("findings",), "threshold": 1.0}
        assert set(checked) == set(ProjectSettings().to_dict()), "each setting can be given"

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ("[", "not valid JSON"),
            (7, "expected an object"),
            ({"metric": 1}, "unknown option 'metric'"),
            ({"measure": ""}, "name of a measure"),
            ({"measure": 7}, "name of a measure"),
            ({"controls": []}, "list of names"),
            ({"controls": [1]}, "list of names"),
            ({"threshold": 0}, "above 0"),
            ({"threshold": True}, "above 0"),
            ({"threshold": float("nan")}, "above 0"),
            ({"permutations": 0}, "whole number"),
            ({"permutations": 2.0}, "whole number"),
            ({"casefold": "yes"}, "true or false"),
            ({"regions": "all"}, "pooled, matched"),
            ({"chance": ["exact"]}, "one of auto"),
            ({"fields": ["severity"]}, "needs a kind other than text"),
            ({"fields": ["severity=text"]}, "needs a kind other than text"),
            ({"fields": ["severity=good"]}, "no kind of field 'good'"),
            ({"fields": "severity=set"}, "list of NAME=KIND"),
            ({"score": 1}, "texts, mean, lowest or the name of a control"),
            ({"policy": "/etc/passwd"}, "there is no policy '/etc/passwd'"),
            ({"policy": ["severity"]}, "JSON object"),
            ({"missing": ""}, "missing"),
            ({"missing": 3}, "missing"),
            ({"terminologies": "hp.obo"}, "a list of paths"),
            ({"terminologies": [3]}, "a list of paths"),
            ({"terminologies": [""]}, "a list of paths"),
            ({"x" * 10_000: 1}, "unknown option"),
        ],
    )
    def test_an_unusable_one_is_named_in_a_sentence(self, options: Any, says: str) -> None:
        with pytest.raises(InputError, match="X: ") as caught:
            checked_options(options, source="X")
        assert says in str(caught.value)
        assert str(caught.value).endswith(".")
        assert len(str(caught.value)) < 350


class TestLayers:
    def test_the_later_one_wins_and_is_named(self) -> None:
        settings = Settings.from_environment({"SOFTIRR_MEASURE": "jaccard"})
        layers = effective(
            settings,
            connection={"measure": "masi", "threshold": 0.7},
            command_options={"threshold": 0.9, "controls": ["a"]},
        )
        assert layers.values.measure == "masi"
        assert layers.values.controls == ("a",)
        described = layers.to_dict()
        assert described["measure"] == {"value": "masi", "source": "connection"}
        assert described["threshold"] == {"value": 0.9, "source": "softirr-ls"}
        assert described["controls"] == {"value": ["a"], "source": "softirr-ls"}
        assert described["chance"] == {"value": "auto", "source": "default"}
        assert effective(settings).to_dict()["measure"] == {"value": "jaccard", "source": "environment"}

    def test_former_spelling_of_regions_is_read_as_the_present(self) -> None:
        former = {"regions": "overlap"}
        settings = Settings.from_environment({})
        assert effective(settings, connection=former).values.regions == "matched"
        assert effective(settings, command_options=former).values.regions == "matched"
        assert checked_options(former, source="X") == {"regions": "matched"}
        command_line = argparse.ArgumentParser()
        add_options(command_line)
        assert given_options(command_line.parse_args(["--regions", "overlap"])) == {"regions": "matched"}
        assert "overlap" not in command_line.format_usage()

    @pytest.mark.parametrize(
        ("option", "value", "rescored"),
        [
            ("measure", "masi", True),
            ("threshold", 0.9, True),
            ("casefold", True, True),
            ("regions", "matched", True),
            ("suggestions", False, True),
            ("chance", "exact", False),
            ("hide_names", True, False),
        ],
    )
    def test_only_options_that_change_results_cause_rescoring(self, option: str, value: Any, rescored: bool) -> None:
        assert (ProjectSettings(**{option: value}).fingerprint() != ProjectSettings().fingerprint()) == rescored


class TestMeasuresThatOpenSomething:
    """A measure with a folder, a hub name or an address in it is the operator's to choose."""

    NAMES = ("llm-verbalised:http://192.0.2.1/v1", "nli:/etc", "nli:some/model", "embedding:/tmp/x", "embedding")

    @pytest.mark.parametrize("name", NAMES)
    def test_a_connection_can_not_choose_one(self, name: str) -> None:
        settings = Settings.from_environment({})
        assert effective(settings, connection={"measure": name}).values.measure == "nli"
        assert "SOFTIRR_ALLOWED_MEASURES" in refused(settings, {"measure": name})["measure"]
        assert effective(settings, command_options={"measure": name}).values.measure == name

    @pytest.mark.parametrize("name", NAMES)
    def test_the_operator_allows_them_by_exact_name(self, name: str) -> None:
        settings = Settings.from_environment({"SOFTIRR_ALLOWED_MEASURES": f"lcs {name}"})
        assert effective(settings, connection={"measure": name}).values.measure == name
        assert refused(settings, {"measure": "llm-logprob:" + name})

    @pytest.mark.parametrize("name", ["nli", "indel", "exact"])
    def test_those_that_open_nothing_are_free(self, name: str) -> None:
        assert effective(Settings.from_environment({}), connection={"measure": name}).values.measure == name

    def test_connection_cannot_set_the_reviewers(self) -> None:
        settings = effective(Settings.from_environment({}), connection={"reviewers": ["3"], "count_reviewers": True})
        assert (settings.values.reviewers, settings.values.count_reviewers) == ((), False)
