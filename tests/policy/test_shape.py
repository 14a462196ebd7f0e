"""The JSON Schema and the reader agree on what a policy is."""

from fractions import Fraction
from importlib import util
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from nowiser.examples import canteen, hospital
from nowiser.policy import json_schema, parse
from nowiser.policy.shape import PolicyFile, Table, keys_of
from nowiser.policy.tree import Entries, Items, parse_tree

_SPEC = util.spec_from_file_location("meanings", Path(__file__).with_name("test_meaning.py"))
_MEANINGS = util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MEANINGS)


def plain(node):
    """As editors read YAML 1.2: numbers are numbers, dates stay texts."""
    if isinstance(node, Entries):
        return {key: plain(child) for key, child in node.entries.items()}
    if isinstance(node, Items):
        return [plain(child) for child in node]
    value = node.value
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value if isinstance(value, bool) else node.raw


def complaints(text: str) -> list[str]:
    return [e.message for e in Draft202012Validator(json_schema()).iter_errors(plain(parse_tree(text, "p.yaml")))]


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("text", [canteen.POLICY, hospital.POLICY.format(format="csv"), _MEANINGS.RICH])
def test_what_the_reader_takes_the_schema_takes(text):
    parse(text)
    assert complaints(text) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("attackers:", "atackers:"),
        ("person:", "persn:"),
        ("rows_per_person: 1", "rows_per_person: 0"),
        ("protect: values", "protect: value"),
        ("student: identifier", "student: identifer"),
        ("prior: {normal", "prior: {norml"),
        ("sd: 5", "sd: -5"),
        ("nowiser: 1", "nowiser: 2"),
        (", gain: 5%", ""),
        ("gain: 5%", "gain: 5"),
        ("{sensitive: [0, 60]", "{secret: [0, 60]"),
    ],
)
def test_what_the_schema_refuses_the_reader_refuses(old, new):
    text = canteen.POLICY.replace(old, new, 1)
    assert complaints(text)
    with pytest.raises(Exception, match=r"nowiser.yaml:\d+:\d+"):
        parse(text)


def test_every_key_has_a_hint_for_the_editor():
    schema = json_schema()
    obvious = {"tables", "attackers", "answers"}
    for key in set(keys_of(PolicyFile)) - obvious:
        assert schema["properties"][key]["description"]
    for key in set(keys_of(Table)) - {"columns"}:
        assert schema["$defs"]["Table"]["properties"][key]["description"]


def test_every_key_stands_in_the_reference():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    definitions = json_schema()
    keys = set(definitions["properties"]) | {k for d in definitions["$defs"].values() for k in d["properties"]}
    assert [key for key in sorted(keys) if f"`{key}`" not in page and f"{key}:" not in page] == []
