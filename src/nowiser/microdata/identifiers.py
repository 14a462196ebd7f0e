"""Columns that name people: recognised by how their values are written, by their names, or by being all different.

What is recognised is not released by `keep: "*"`; who wants it released names the column. Words are those of English
and German column names.
"""

import re
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from nowiser.microdata.hierarchies import dates
from nowiser.microdata.table.column import Column

FEW = 10  # rows below which a column may be unique by chance
MOSTLY = 0.8  # share of the distinct values that must be written this way
LOOKED_AT = 2000  # distinct values that are looked at

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[0-9A-Z]){11,30}")
PHONE = re.compile(r"(?:\+|00)\d[\d ()./-]{6,18}\d|\(?\d{2,5}\)?[ ./-]\d{2,5}[ ./-]?\d{2,9}(?:[ -]\d{1,5})?")
ZIP_PLUS_4 = re.compile(r"\d{5}-\d{4}")
SSN = re.compile(r"\d{3}-\d{2}-\d{4}")
URL = re.compile(r"(?:https?|ftp)://\S+|www\.\S+", re.IGNORECASE)
IP = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}")


def is_iban(text: str) -> bool:
    """ISO 13616: the letters as numbers, the front put last, leaves 1 of 97."""
    if not IBAN.fullmatch(text):
        return False
    tight = text.replace(" ", "")
    return int("".join(str(int(c, 36)) for c in tight[4:] + tight[:4])) % 97 == 1


def is_phone(text: str) -> bool:
    return bool(PHONE.fullmatch(text)) and not ZIP_PLUS_4.fullmatch(text) and 7 <= sum(c.isdigit() for c in text) <= 15


WRITTEN: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("e-mail addresses", EMAIL.fullmatch),
    ("IBANs", is_iban),
    ("social security numbers", SSN.fullmatch),
    ("web addresses", URL.fullmatch),
    ("IP addresses", IP.fullmatch),
    ("phone numbers", is_phone),
)
# what a name says, whatever the values are
NAMED = (
    ("e-mail addresses", "email e mail mail"),
    ("phone or fax numbers", "phone telephone tel telefon fax mobile handy cellphone"),
    ("social security numbers", "ssn sin nino svnr sozialversicherungsnummer"),
    ("medical record numbers", "mrn medrec fallnummer patientennummer"),
    ("account numbers", "iban account kontonummer konto creditcard"),
    ("licence or passport numbers", "passport passnummer licence license"),
    ("street addresses", "street address strasse straße anschrift adresse"),
    ("IP addresses", "ip ipaddress"),
    ("web addresses", "url website homepage"),
)
# … and only where the values are many: `name` may be that of a hospital
PERSONS = ("name", "surname", "lastname", "firstname", "forename", "fullname", "givenname", "vorname", "nachname")
NUMBERS = ["id", "pid", "uid", "uuid", "guid", "number", "nr", "no", "code", "key", "mrn", "record", "case"]
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-zäöüß]+|\d+")


def words(name: str) -> set[str]:
    """The words of a column's name, and all of them together."""
    found = [w.lower() for w in WORDS.findall(name)]
    return {*found, "".join(found), *(a + b for a, b in pairwise(found))}


def recognised(column: Column) -> str | None:
    """What the column holds, if it names people; None where nothing says so."""
    return written(column) or named(column) or ("a different value in every row" if names_rows(column) else None)


def written(column: Column) -> str | None:
    """By how most of its values are written."""
    if column.is_numeric:  # first: of numbers no dictionary is made
        return None
    labels = column.labels[:LOOKED_AT]
    if not labels or dates.read(labels) is not None:
        return None
    for what, fits in WRITTEN:
        if sum(1 for label in labels if fits(label.strip())) >= MOSTLY * len(labels):
            return what
    return None


def named(column: Column) -> str | None:
    """By its name."""
    said = words(column.name)
    for what, list_ in NAMED:
        if said & set(list_.split()) and column.distinct > FEW // 2:
            return what
    numbers = column.is_numeric
    many = column.distinct >= max(FEW, len(column) // 5)
    return "names" if said & set(PERSONS) and many and not numbers else None


def names_rows(column: Column) -> bool:
    """Whether its values number or name the rows: all different, and neither dates nor measurements."""
    if not column.is_numeric:
        return is_unique(column) and dates.read(column.labels[:LOOKED_AT]) is None
    numbers = column.numbers
    if not numbers.size or np.isnan(numbers).any():
        return False
    called = bool(words(column.name) & set(NUMBERS))
    return (called or float(numbers.max() - numbers.min()) == len(numbers) - 1) and is_unique(column)


def is_unique(column: Column) -> bool:
    if column.nulls or column.distinct < max(FEW, len(column)):
        return False
    return column.distinct == int(column.counts().sum())  # of a table that stands for more rows: all of those
