"""Directed pairs that tables of wordings give in any language: numbers with units, roles, and signs of any script."""

from __future__ import annotations

from random import Random

from lab.train.concept_pairs import Draw, Drawn, either_way
from lab.train.wording_pairs import WordingPairs

__all__ = ["LanguagePairs"]

_SIGNS = (
    (0x1200, 0x1357), (0x1780, 0x17B3), (0xE81, 0xEB0), (0x1000, 0x102A), (0x10D0, 0x10F0), (0x561, 0x586),
    (0x13A0, 0x13F4), (0xF40, 0xF6C), (0xD85, 0xDC6), (0x1820, 0x1877), (0x2D30, 0x2D67), (0x1F300, 0x1F64F),
    (0x20000, 0x20400), (0x4E00, 0x9FA5), (0x3400, 0x4DB0), (0xAC00, 0xD7A3), (0x2200, 0x22FF), (0x2600, 0x26FF),
)  # fmt: skip
"""Scripts and signs that no source covers."""


class LanguagePairs(WordingPairs):
    """Draws texts of one language and changes their wording."""

    def draws(self) -> dict[str, Draw]:
        """Functions that draw a pair, by kind, for the kinds that the sources and the language have."""
        draws = super().draws()
        if draws and self.language.units:
            draws["number"] = self.number
        if self.language.persons:
            draws["roles"] = self.roles
        return draws | {"signs": self.signs}

    def number(self, rng: Random) -> Drawn:
        """A number with its unit, against the same in other words, another number, or another unit."""
        units, digits = rng.choice(self.language.units), self.language.digits
        n = rng.choice((rng.randint(1, 10), rng.randint(1, 10), rng.randint(1, 99), rng.randint(1, 999)))
        text = self._concepts.text(rng) if rng.random() < 0.75 else ""
        form = rng.choice(("{text} {amount}", "{text} {amount}", "{amount} {text}"))

        def amount(number: int, wordings: tuple[str, ...]) -> str:
            value = rng.choice(wordings).replace("{}", digits(rng, number))
            return form.format(text=text, amount=value).strip()

        draw = rng.random()
        if draw < 0.45:
            first, second, same = amount(n, units), amount(n, units), 1
        elif draw < 0.85:
            other_numbers = {n + 1, n * 10, n * 2, n + rng.randint(2, 9), int(str(n)[::-1])} - {n}
            first, second, same = amount(n, units), amount(rng.choice(sorted(other_numbers)), units), 0
        else:
            other_units = rng.choice([group for group in self.language.units if group is not units])
            first, second, same = amount(n, units), amount(n, other_units), 0
        return None if first == second else either_way(rng, first, second, same)

    def roles(self, rng: Random) -> Drawn:
        """A sentence with two persons, against the same in other words, with exchanged roles, or with another verb."""
        first, second = rng.sample(self.language.persons, 2)
        verb = rng.choice(self.language.verbs)

        def sentence(wording: str, subject: tuple[str, str], thing: tuple[str, str]) -> str:
            return wording.replace("{0}", subject[0]).replace("{1}", thing[1])

        wording = rng.choice(verb)
        original, draw = sentence(wording, first, second), rng.random()
        if draw < 0.3 and len(verb) > 1:
            wording_b = rng.choice([w for w in verb if w != wording])
            return either_way(rng, original, sentence(wording_b, first, second), 1)
        if draw < 0.8:
            return either_way(rng, original, sentence(rng.choice(verb), second, first), 0)
        other_verb = rng.choice([v for v in self.language.verbs if v is not verb])
        return either_way(rng, original, sentence(rng.choice(other_verb), first, second), 0)

    def signs(self, rng: Random) -> Drawn:
        """A few signs of one script, against the same with a mark, or with one sign replaced."""
        low, high = rng.choice(_SIGNS)
        signs = [chr(rng.randint(low, high)) for _ in range(rng.randint(1, 8))]
        text = "".join(signs)
        if rng.random() < 0.4:
            return either_way(rng, text, rng.choice((f"{text}.", f"({text})", f"- {text}")), 1)
        signs[rng.randrange(len(signs))] = chr(rng.randint(low, high))
        changed = "".join(signs)
        return None if changed == text else either_way(rng, text, changed, 0)
