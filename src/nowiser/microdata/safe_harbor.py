"""HIPAA's Safe Harbor, 45 CFR 164.514(b)(2): which columns hold one of the eighteen identifiers, and what must go.

Columns are recognised by how their values are written and by their names (English and German words). One value is
enough: the rule knows no shares. A program can find identifiers; it cannot find that there are none. Free text must be
read by a person, pictures and fingerprints are not looked at, and the rule's second half, that the custodian knows of
nothing else by which somebody could be identified, is hers to state.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.microdata import identifiers as known
from nowiser.microdata.hierarchies import dates
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.read import load

# three-digit areas with at most 20,000 people, as the guidance of HHS lists them (census of 2000)
SMALL_ZIP3 = (
    *("036", "059", "063", "102", "203", "556", "692", "790", "821"),
    *("823", "830", "831", "878", "879", "884", "890", "893"),
)
OLDEST = 89  # ages above become one category
SENTENCE = 4  # words of a value from which it is a text somebody wrote
UNREAD = ("free text", "pictures, recordings, fingerprints", "what you know besides (actual knowledge)")

ZIP_CODE = re.compile(r"\d{5}(?:-?\d{4})?")
ZIP_AREA = re.compile(r"(\d{3})(?:[*xX]{2}|\*+|xx)?")
QUARTER = re.compile(r"\d{4}[- ]?Q[1-4]", re.IGNORECASE)
AGED = re.compile(r"(?:>=|≥|mindestens)\s*90|(?:>|over|above|über)\s*89|90\s*(?:\+|or older|and over|und älter)")
INSIDE = (
    ("F", "e-mail addresses", re.compile(known.EMAIL.pattern)),
    ("N", "web addresses", known.URL),
    ("G", "social security numbers", re.compile(rf"(?<!\d){known.SSN.pattern}(?!\d)")),
    ("D", "telephone numbers", re.compile(r"(?<!\d)(?:\+?1[ .-])?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\d)")),
    ("O", "IP addresses", re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")),
    ("C", "dates", re.compile(r"(?<!\d)(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2}))(?!\d)")),
)
WHOLE = (
    ("F", "e-mail addresses", known.EMAIL.fullmatch),
    ("G", "social security numbers", known.SSN.fullmatch),
    ("J", "account numbers", known.is_iban),
    ("N", "web addresses", known.URL.fullmatch),
    ("O", "IP addresses", known.IP.fullmatch),
)
# letter of the rule, what it is, words of a column's name that say so
NAMED = (
    ("E", "fax numbers", "fax telefax"),
    ("D", "telephone numbers", "phone telephone tel telefon mobile handy cellphone"),
    ("F", "e-mail addresses", "email mail"),
    ("G", "social security numbers", "ssn socialsecurity sozialversicherungsnummer svnr"),
    ("H", "medical record numbers", "mrn medrec medicalrecord patientennummer fallnummer chartno"),
    ("I", "health plan numbers", "beneficiary member memberid subscriber policynumber healthplan versichertennummer"),
    ("J", "account numbers", "account iban konto kontonummer creditcard"),
    ("K", "certificate or licence numbers", "licence license certificate passport passnummer führerschein dea npi"),
    ("L", "vehicle identifiers", "vin licenseplate plate vehicle kennzeichen"),
    ("M", "device identifiers", "device serial serialnumber imei mac udi seriennummer"),
    ("N", "web addresses", "url website homepage"),
    ("O", "IP addresses", "ip ipaddress"),
    ("P", "biometric identifiers", "fingerprint voiceprint biometric retina iris"),
    ("Q", "pictures of faces", "photo photograph picture image bild foto"),
    (
        "B",
        "places smaller than a state",
        "street address strasse straße anschrift adresse city town county village parish",
    ),
    (
        "B",
        "places smaller than a state",
        "precinct district tract block latitude longitude lat lon lng gps geocode ort",
    ),
)
PEOPLE = "surname lastname firstname forename fullname givenname middlename vorname nachname initials maiden"
CODES = "patient person pid uid userid patientid personid subjectid customerid clientid memberid employeeid"
PARTS = {"month", "day", "weekday", "quarter", "monat", "tag", "quartal"}
ZIP, AGE, BORN = (
    {"zip", "zipcode", "zcta", "postcode", "postal", "plz"},
    {"age", "alter"},
    {"birth", "born", "dob", "geburt"},
)


@dataclass(frozen=True)
class Finding:
    """One identifier in one column. `must`: it must go; otherwise a person must look."""

    column: str
    letter: str  # of 164.514(b)(2)(i)
    holds: str
    values: int  # distinct ones
    remedy: str
    must: bool = True


@dataclass(frozen=True)
class SafeHarbor:
    """All findings, and the columns in which nothing was recognised."""

    findings: tuple[Finding, ...]
    clear: tuple[str, ...]
    not_checked: tuple[str, ...] = UNREAD

    @property
    def holds(self) -> bool:
        """Whether nothing was found. Not yet whether the rule is kept: see `not_checked`."""
        return not self.findings

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": "45 CFR 164.514(b)(2)",
            "nothing_found": self.holds,
            "findings": [asdict(f) for f in self.findings],
            "nothing_recognised_in": list(self.clear),
            "not_checked": list(self.not_checked),
        }


def safe_harbor(data: Any, *, small_zip3: Collection[str] = SMALL_ZIP3, year: int | None = None) -> SafeHarbor:
    """Look for the eighteen identifiers in every column. `small_zip3`: areas of at most 20,000 people by the newest
    census, where it is not that of 2000; `year`: of the data, by which people born more than 89 years before are found.

    >>> import pandas as pd
    >>> found = safe_harbor(pd.DataFrame({"zip": ["02139", "03601"], "sex": ["f", "m"]}))
    >>> [(f.column, f.letter) for f in found.findings], found.clear
    ([('zip', 'B')], ('sex',))
    """
    wrong = [z for z in small_zip3 if not re.fullmatch(r"\d{3}", z)]
    if wrong:
        raise Misconfigured("an area of ZIP codes is three digits", hint="As in 036,059,102.")
    now = datetime.now(UTC).year if year is None else year
    table = load(data)
    findings = [f for column in table.columns for f in found_in(column, frozenset(small_zip3), now)]
    hit = {f.column for f in findings}
    return SafeHarbor(tuple(findings), tuple(n for n in table.names if n not in hit))


def found_in(column: Column, small: Collection[str], now: int) -> Iterator[Finding]:
    """What one column holds: by its values, else by its name, else by being different in every row."""
    labels = [label.strip() for label in column.labels]
    said = known.words(column.name)
    if not labels:
        return
    if special := coarser(column, labels, said, small, now):
        yield special
        return
    if said & AGE or said & BORN:
        yield from aged(column.name, labels, born=bool(said & BORN), now=now)
        return
    if column.is_numeric:
        yield from by_name(column, said)
        return
    for letter, what, fits in WHOLE:
        if count := sum(1 for label in labels if fits(label)):
            yield Finding(column.name, letter, what, count, gone(count, len(labels)))
            return
    count = sum(1 for label in labels if known.is_phone(label))
    if count >= known.MOSTLY * len(labels):
        yield Finding(column.name, "D", "telephone numbers", count, gone(count, len(labels)))
        return
    yield from in_texts(column, labels, said)


def in_texts(column: Column, labels: Sequence[str], said: set[str]) -> Iterator[Finding]:
    """By its name; and texts that somebody wrote, with what was recognised inside."""
    named = list(by_name(column, said))
    yield from named
    written = sum(1 for label in labels if len(label.split()) >= SENTENCE)
    inside = [(letter, what, sum(1 for t in labels if p.search(t))) for letter, what, p in INSIDE]
    for letter, what, count in inside:
        if count and not named:
            yield Finding(column.name, letter, f"{what} inside of texts", count, "take them out of the texts")
    if written and not named:
        yield Finding(
            column.name, "A-R", "free text", written, "leave it out, or have every text read by a person", must=False
        )


def by_name(column: Column, said: set[str]) -> Iterator[Finding]:
    """What the name says, whatever the values are; and numbers or codes that are different in every row."""
    many = len(column.labels)
    if said & {"name", *PEOPLE.split()} and not column.is_numeric:
        sure = bool(said & set(PEOPLE.split())) or many >= max(known.FEW, len(column) // 5)
        yield Finding(column.name, "A", "names", many, "leave the column out, if they are of people", must=sure)
        return
    for letter, what, list_ in NAMED:
        if said & set(list_.split()):
            yield Finding(column.name, letter, what, many, "leave the column out")
            return
    if known.names_rows(column) or said & set(CODES.split()):
        yield Finding(column.name, "R", "names or codes of rows or people", many, OWN_CODE)
    elif said & PARTS:
        yield Finding(column.name, "C", "perhaps parts of a date", many, "leave it out, if so", must=False)


OWN_CODE = "leave it out; a code to come back by must be random and its key kept (164.514(c))"


def gone(count: int, of: int) -> str:
    return "leave the column out" if count >= known.MOSTLY * of else "take these values out"


def dated(label: str) -> bool:
    """Whether a value says more of a date than its year."""
    return QUARTER.fullmatch(label) is not None or dates.read([label]) is not None


def coarser(column: Column, labels: Sequence[str], said: set[str], small: Collection[str], now: int) -> Finding | None:
    """Dates and ZIP codes: they may stay, but coarser."""
    if said & ZIP or (not column.is_numeric and all(ZIP_CODE.fullmatch(v) for v in labels)):
        return zip_codes(column, labels, small)
    numeric = column.is_numeric
    count = len(labels) if numeric and dates.read(labels) else 0 if numeric else sum(1 for v in labels if dated(v))
    if count:
        rule = "keep the year only (dates to year)"
        found = dates.read(labels) if said & BORN else None
        if found is not None and any(now - y > OLDEST for y, _, _ in found.parts):
            rule += f", and one category for {now - OLDEST - 1} or earlier"
        return Finding(column.name, "C", "dates finer than a year", count, rule)
    return None


def zip_codes(column: Column, labels: Sequence[str], small: Collection[str]) -> Finding | None:
    """Three digits may stay, where more than 20,000 people share them; else 000."""
    areas = [ZIP_AREA.fullmatch(v) for v in labels]
    fine = sum(1 for v, area in zip(labels, areas, strict=True) if area is None and any(c.isdigit() for c in v))
    few = sum(1 for area in areas if area and area[1] in small)
    if fine:
        rule = f"keep the first three digits, and 000 for {len(small)} areas of at most 20,000 people"
        return Finding(column.name, "B", "ZIP codes of more than three digits", fine, rule)
    if few:
        return Finding(column.name, "B", "ZIP areas of at most 20,000 people", few, "write 000 for them")
    return None


def aged(name: str, labels: Sequence[str], *, born: bool, now: int) -> Iterator[Finding]:
    """Ages over 89, and years of birth that tell one."""
    lowest = [float(m[0]) for v in labels if not AGED.search(v.lower()) and (m := re.search(r"\d+(?:\.\d+)?", v))]
    if born:
        old = [n for n in lowest if now - n > OLDEST]
        if old:
            yield Finding(
                name, "C", "years that tell an age over 89", len(old), f"one category: {now - OLDEST - 1} or earlier"
            )
        return
    old = [n for n in lowest if n >= OLDEST + 1]
    if set(old) == {float(OLDEST + 1)}:
        yield Finding(name, "C", "the age 90", 1, "fine if it means 90 or older: say so (90+)", must=False)
    elif old:
        yield Finding(name, "C", "ages over 89", len(old), "one category: 90+")


def words(found: SafeHarbor) -> str:
    """The findings for people, one line each."""
    lines = []
    width = max((len(f.column) for f in found.findings), default=0)
    for f in found.findings:
        mark, unit = "must go" if f.must else "look   ", "value" if f.values == 1 else "values"
        lines.append(f"{mark}  {f.column:<{width}}  ({f.letter}) {f.holds}, {f.values:,} {unit}: {f.remedy}")
    if not lines:
        lines.append("None of the eighteen identifiers was recognised.")
    if found.clear:
        lines.append(f"\nNothing recognised in: {', '.join(found.clear)}")
    lines.append(f"Not checked by this program: {'; '.join(found.not_checked)}.")
    return "\n".join(lines)
