"""Read the numbers that a surface shows, as ``{address: digits}`` with the addresses of the JSON.

A number that a surface writes a second time with other digits has an address that begins with ``again:``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lxml import html

from softirr.statistics.coefficients.registry import coefficient_keys, coefficient_name

Numbers = dict[str, Any]


def ends(address: str, interval: str) -> Numbers:
    """The two ends of an interval that is written as a to b."""
    return (
        dict(zip((f"{address}[low]", f"{address}[high]"), interval.split(" to "), strict=True))
        if " to " in interval
        else {}
    )


def of_text(text: str) -> Numbers:
    """The printed report."""
    numbers: Numbers = {}
    lines = text.splitlines()
    numbers["n_items"], numbers["n_raters"] = re.search(r"([\d,]+) items, ([\d,]+) raters", text).groups()
    head = re.search(r"agreement (\S+) \((\S+ to [^)]+)\), target", text)
    assert head is not None
    numbers["headline.value"] = head[1]
    numbers |= ends("coefficients.krippendorff_alpha.ci95", head[2])
    basis = re.search(r"^Krippendorff's alpha · (no|\d+) judgments? · .* · (\d+) items, \d+ raters", text, re.M)
    numbers["headline.judgments"], numbers["n_compared"] = basis[1].replace("no", "0"), basis[2]
    titles = {coefficient_name(key): key for key in coefficient_keys()}
    for name, key in titles.items():
        (table,) = [re.split(r"  +", line.rstrip()) for line in lines if line.startswith(f"{name}  ")]
        if table[1] != "undefined":
            numbers[f"coefficients.{key}.value"] = table[1]
            numbers |= ends(f"again:coefficients.{key}.ci95", table[2] if len(table) > 2 else "")
    (chance,) = [line for line in lines if line.startswith("Expected by chance: ")]
    numbers |= of_chance(chance)
    terminology_counts = re.search(r"^Terminologies: terms: (\d+) of (\d+) texts known", text, re.M)
    numbers["terminology.known_texts"], numbers["terminology.texts"] = terminology_counts.groups()
    people = r"^(ann|ben|cho) +(\d+) +(\d\.\d+) +(\d\.\d+ to \d\.\d+)"
    for rater, n, agreement, ci95 in re.findall(people, text, re.M):
        numbers |= {f"raters[{rater}].n_items": n, f"raters[{rater}].agreement": agreement}
        numbers |= ends(f"raters[{rater}].agreement_ci95", ci95)
    numbers |= of_audit(text)
    if measure_values := re.search(r"^By the measure alone: (.*)\.$", text, re.M):
        numbers |= {
            f"audit.plain.{key}": value
            for name, key in titles.items()
            for value in re.findall(rf"{re.escape(name)} (-?[\d.]+)", measure_values[1])
        }
    for index, (item, agreement) in enumerate(re.findall(r"^(case \d+) +(\d\.\d+) ", text, re.M)):
        numbers |= {f"order[{index}]": item, f"items[{item}].agreement": agreement}
    why = text.partition("why texts do not match")[2].partition("\n\n")[0]
    for name, items in re.findall(r"^(\S.*?)  +(\d+)$", why, re.M):
        kind = {"found by one rater only": "one rater only"}.get(name, name)
        numbers |= {f"reasons.kinds[{kind}].items": items}
    numbers |= of_sentences(text)
    return numbers | of_exclusions(text)


def of_exclusions(text: str) -> Numbers:
    """Answers that were left out, by reason."""
    left_out = re.search(r"^Left out: (\d+) answers \((\d+) (missing, written as N/A)\)", text, re.M)
    return {"excluded": left_out[1], f"excluded.{left_out[3]}": left_out[2]}


def of_audit(text: str) -> Numbers:
    """The sentence on the judgments."""
    judged = re.search(r"Corrected by (\d+) judgments of (\d+) pairs in the sheets\.", text)
    return {} if judged is None else {"audit.judgments": judged[1], "audit.asked": judged[2]}


def of_chance(sentence: str) -> Numbers:
    """Agreement by chance, and how it was computed."""
    numbers: Numbers = {}
    for name, value in re.findall(r"(Cohen|Fleiss|Krippendorff) (\d\.\d+)", sentence):
        numbers[f"expected_agreement.{name.lower()}"] = value
    numbers["expected_agreement.pairs_scored"] = re.search(r"([\d,]+) pairs", sentence)[1]
    if error := re.search(r"standard error ([\d.]+)", sentence):
        numbers["expected_agreement.standard_error"] = error[1]
    return numbers


def of_sentences(text: str) -> Numbers:
    """Sentences on attributes that do not count."""
    numbers: Numbers = {}
    for name, value, instead in re.findall(
        r"If (\w+) did not count, Krippendorff['’]s alpha would be (\S+) instead of (\d\.\d+)", text
    ):
        numbers |= {f"reasons.what_if[{name}].value": value, f"reasons.what_if[{name}].instead_of": instead}
    return numbers


def words(element: Any) -> str:
    return " ".join(element.text_content().split())


def rows(page: Any, heading: str, number_of_table: int = 0) -> list[Any]:
    tables = page.xpath(f'//section[@aria-labelledby="{heading}"]//table')
    return tables[number_of_table].xpath("./tbody/tr") if tables else []


def cell(row: Any, label: str) -> str:
    return words(row.xpath(f'./td[@data-label="{label}"]')[0])


def of_coefficient_rows(page: Any) -> Numbers:
    """The table of coefficients."""
    numbers: Numbers = {}
    chance = {"cohen_kappa": "cohen", "fleiss_kappa": "fleiss", "krippendorff_alpha": "krippendorff"}
    for row in rows(page, "h-method"):
        (key,) = row.xpath("./td/@data-coefficient")
        if cell(row, "Value") != "–":
            numbers[f"coefficients.{key}.value"] = cell(row, "Value")
            numbers |= ends(f"coefficients.{key}.ci95", cell(row, "95% interval"))
            if key in chance:
                numbers[f"expected_agreement.{chance[key]}"] = cell(row, "By chance")
            if row.xpath('./td[@data-label="By the measure alone"]') and cell(row, "By the measure alone") != "–":
                numbers[f"audit.plain.{key}"] = cell(row, "By the measure alone")
    return numbers


def of_rater_rows(page: Any) -> Numbers:
    """The table of raters and the list of rater pairs."""
    numbers: Numbers = {}
    for row in page.xpath("//tr[@data-rater]"):
        (rater,) = row.xpath("./@data-rater")
        numbers[f"raters[{rater}].agreement"] = cell(row, "Agreement with the others")
        numbers |= ends(f"raters[{rater}].agreement_ci95", cell(row, "95% interval"))
        numbers[f"raters[{rater}].n_items"] = cell(row, "Items")
        numbers[f"excluded of {rater}"] = cell(row, "Answers left out")
    for entry in page.xpath('//ul[contains(@class, "pair-list")]/li'):
        value, first, second, n = re.match(r"(\S+) (.+) and (.+) n = (\d+)", words(entry)).groups()
        pair = f"rater_pairs[{first} & {second}]"
        numbers |= {f"{pair}.observed_agreement": value, f"{pair}.n_items": n}
    return numbers


def of_facts(page: Any) -> Numbers:
    """The list of facts on the method."""
    facts = {
        words(entry.xpath("./dt")[0]): words(entry.xpath("./dd")[0]) for entry in page.xpath('//dl[@class="facts"]/div')
    }
    in_table = {f"expected_agreement.{name}" for name in ("cohen", "fleiss", "krippendorff")}
    chance = of_chance(facts["Expected by chance"])
    numbers = {f"again:{key}" if key in in_table else key: value for key, value in chance.items()}
    numbers["again:coefficients.observed_agreement.value"] = facts["Observed agreement"]
    numbers["provenance.seed"] = facts["Seed"]
    numbers["terminology.known_texts"], numbers["terminology.texts"] = re.findall(r"\d+", facts["Terminologies"])
    return numbers


def of_page(text: str) -> Numbers:
    """The HTML page of a report folder."""
    page = html.fromstring(text.encode())
    numbers: Numbers = {}
    head = words(page.xpath("//header//p")[0])
    counts = re.search(r"([\d,]+) items? with at least two answers, of ([\d,]+) · ([\d,]+) raters", head)
    numbers["n_compared"], numbers["n_items"], numbers["n_raters"] = counts.groups()
    verdict = re.search(r"agreement (\S+) \((\S+ to [^)]+)\), target", words(page.xpath('//*[@id="verdict"]')[0]))
    numbers["headline.value"] = verdict[1]
    numbers |= ends("coefficients.krippendorff_alpha.ci95", verdict[2])
    basis = words(page.xpath('//*[@id="basis"]')[0])
    numbers["headline.judgments"] = re.search(r"(no|\d+) judgments", basis)[1].replace("no", "0")
    numbers |= of_coefficient_rows(page)
    numbers |= of_audit(text)
    numbers |= of_rater_rows(page)
    for index, row in enumerate(page.xpath("//tr[@data-item]")):
        (item,) = row.xpath("./@data-item")
        numbers |= {f"order[{index}]": item, f"items[{item}].agreement": cell(row, "Agreement")}
    numbers |= of_sentences(text.replace("&#39;", "'"))
    for name, n in [
        (words(row.xpath("./th")[0]), words(row.xpath("./td")[0]))
        for row in page.xpath('//section[@aria-labelledby="h-method"]//table[not(contains(@class, "cards"))]/tbody/tr')
    ]:
        kind = {"found by one rater only": "one rater only"}.get(name, name)
        is_reason = not name.startswith("missing")
        numbers |= {f"reasons.kinds[{kind}].items": n} if is_reason else {f"excluded.{name}": n, "excluded": n}
    return numbers | of_facts(page)


def of_tables(tables: Mapping[str, list[dict[str, Any]]]) -> Numbers:
    """The CSV tables of a report folder, and the data frames."""
    numbers: Numbers = {}

    def put(address: str, row: Mapping[str, Any], **names: str) -> None:
        numbers.update({f"{address}.{name}": row[column] for name, column in names.items()})

    for row in tables["coefficients"]:
        put(f"coefficients.{row['coefficient']}", row, value="value", standard_error="standard_error")
        put(f"coefficients.{row['coefficient']}", row, **{"ci95[low]": "low", "ci95[high]": "high"})
    for row in tables["items"]:
        put(f"items[{row['item']}]", row, agreement="agreement", kappa="kappa", sigma="sigma", n_raters="n_raters")
        numbers[f"priority[{row['item']}]"] = row["priority"]
    for row in tables["raters"]:
        put(f"raters[{row['rater']}]", row, n_items="n_items", agreement="agreement")
        put(f"raters[{row['rater']}]", row, **{"agreement_ci95[low]": "low", "agreement_ci95[high]": "high"})
        put(f"raters[{row['rater']}]", row, **{"cohen_kappa.value": "cohen_kappa", "sigma.value": "sigma"})
    for row in tables["pairs"]:
        pair = f"rater_pairs[{row['rater_a']} & {row['rater_b']}]"
        put(pair, row, n_items="n_items", observed_agreement="agreement", expected_agreement="expected_agreement")
        put(pair, row, **{"observed_agreement_ci95[low]": "low", "observed_agreement_ci95[high]": "high"})
        put(pair, row, **{"cohen_kappa.value": "cohen_kappa", "sigma.value": "sigma"})
    n_reasons = Counter[str]()
    for row in tables["reasons"]:
        numbers[f"items[{row['item']}].reasons[{n_reasons[row['item']]}].equivalence"] = row["equivalence"]
        n_reasons[row["item"]] += 1
    for row in tables["matches"]:
        if int(row["match"]):
            put(
                f"items[{row['item']}].matches[{int(row['match']) - 1}]",
                row,
                equivalence="equivalence",
                support="support",
            )
    return {address: value for address, value in numbers.items() if value not in ("", None) and value == value}


def of_view(view: Mapping[str, Any]) -> Numbers:
    """The JSON of the view, which the backend serves."""
    verdict = view["verdict"]
    numbers: Numbers = {"headline.value": verdict["value"], "headline.judgments": verdict["judgments"]}
    numbers |= {name: view[name] for name in ("n_items", "n_raters", "n_compared")}

    def put(address: str, entry: Mapping[str, Any], *names: str, **renamed: str) -> None:
        for name, key in {**{name: name for name in names}, **renamed}.items():
            numbers[f"{address}.{name}"] = entry[key]

    def put_ends(address: str, entry: Mapping[str, Any]) -> None:
        numbers.update(zip((f"{address}[low]", f"{address}[high]"), entry["ci95"] or (None, None), strict=True))

    put_ends("coefficients.krippendorff_alpha.ci95", verdict)
    for row in view["coefficients"]:
        put(f"coefficients.{row['key']}", row, "value", "standard_error")
        put_ends(f"coefficients.{row['key']}.ci95", row)
        numbers[f"audit.plain.{row['key']}"] = row["by_measure"]
    for row in view["people"]:
        address = f"raters[{row['id']}]"
        put(address, row, "n_items", "agreement", **{"cohen_kappa.value": "cohen_kappa", "sigma.value": "sigma"})
        put_ends(f"{address}.agreement_ci95", row)
        numbers[f"excluded of {row['id']}"] = row["left_out"]
    for row in view["pairs"]:
        address = f"rater_pairs[{' & '.join(row['raters'])}]"
        values = {"cohen_kappa.value": "cohen_kappa", "sigma.value": "sigma"}
        put(address, row, "n_items", observed_agreement="agreement", expected_agreement="expected", **values)
        put_ends(f"{address}.observed_agreement_ci95", row)
    for index, row in enumerate(view["items"]):
        put(f"items[{row['id']}]", row, "agreement", "kappa", "sigma", "n_raters")
        numbers |= {f"order[{index}]": row["id"], f"priority[{row['id']}]": row["priority"]}
    return {address: value for address, value in numbers.items() if value is not None}
