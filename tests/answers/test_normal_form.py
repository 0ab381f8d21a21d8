"""The normal form of texts: which texts are the same."""

from __future__ import annotations

import random
import sys

import pytest

from softirr.text import clean, normalize

SAME = {
    "width of digits and unit": ("３７.２℃", "37.2 °C"),
    "width of kana": ("ﾃﾞｰﾀ", "データ"),
    "width of letters": ("ＣＴ所見", "CT所見"),
    "width of hangul": ("ﾡ", "ㄱ"),
    "Arabic digits": ("٧ أسابيع", "7 أسابيع"),
    "Persian digits": ("۷", "7"),
    "Devanagari digits": ("४२", "42"),
    "Arabic decimal separator": ("٣٫٥", "3.5"),
    "tatweel": ("ســعال", "سعال"),
    "Arabic positional forms": ("ﺳﻌﺎﻝ", "سعال"),
    "Latin ligature": ("ﬂuid", "fluid"),
    "unit in a square": ("5 ㎎", "5 mg"),
    "composed letter": ("e\u0301", "é"),
    "white space and controls": (" heart\u00a0\tattack\x00\n", "heart attack"),
    "space before a percent sign": ("50 %", "50%"),
    "ideographic space": ("頭　痛", "頭 痛"),
}
DIFFERENT = {
    "superscript": ("10²", "102"),
    "square meter": ("㎡", "m2"),
    "case": ("Fever", "fever"),
    "Turkish i": ("ısı", "isi"),
    "vowel signs": ("كَتَبَ", "كتب"),
    "simplified and traditional": ("头痛", "頭痛"),
    "circled number": ("①", "1"),
    "joined emoji": ("👩‍👧", "👩👧"),
}


@pytest.mark.parametrize("name", SAME)
def test_other_form_of_a_text_is_the_same_text(name: str) -> None:
    first_text, second_text = SAME[name]
    assert normalize(first_text) == normalize(second_text)


@pytest.mark.parametrize("name", DIFFERENT)
def test_other_text_stays_another_text(name: str) -> None:
    first_text, second_text = DIFFERENT[name]
    assert normalize(first_text) != normalize(second_text)


def test_options_fold_case_and_vowel_signs() -> None:
    assert normalize("DİKKAT ısı", casefold=True) == normalize("dikkat isi", casefold=True)
    assert normalize("ΠΥΡΕΤΌΣ", casefold=True) == normalize("πυρετός", casefold=True) == "πυρετός"
    assert normalize("كَتَبَ", ignore_harakat=True) == "كتب"


@pytest.mark.parametrize("options", [{}, {"casefold": True}, {"ignore_harakat": True}])
def test_normal_form_of_a_normal_form_is_itself(options: dict[str, bool]) -> None:
    rng = random.Random(7)
    characters = [chr(code) for code in range(0x3400)] + [chr(code) for code in range(0xA000, 0xAC00)]
    characters += [chr(code) for code in range(0xF900, 0x10000)] + [
        chr(rng.randrange(sys.maxunicode)) for _ in range(2000)
    ]
    for character in characters:
        form = normalize(f"a{character}b", **options)
        assert normalize(form, **options) == form, hex(ord(character))
    for _ in range(2000):
        form = normalize("".join(rng.choices(characters, k=6)), **options)
        assert normalize(form, **options) == form, form.encode("unicode_escape")


def test_cleaned_text_keeps_its_script() -> None:
    assert clean(" ٧\u200b  أسابيع ") == "٧ أسابيع"
