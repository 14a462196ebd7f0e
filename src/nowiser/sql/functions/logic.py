"""Comparisons and three-valued logic. Texts compare by code point, whatever the engine's locale."""

from collections.abc import Callable, Sequence
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import Function, Mismatch, Types, count, nullable, same, want, wanted
from nowiser.sql.tree import Type


def _comparison(types: Types) -> Type:
    count(types, 2)
    same(types)
    return Type(Kind.BOOLEAN, nullable(types))


def _connective(types: Types) -> Type:
    want(types, Kind.BOOLEAN)
    return Type(Kind.BOOLEAN, nullable(types))


def _negation(types: Types) -> Type:
    count(types, 1)
    return _connective(types)


def _is_null(types: Types) -> Type:
    count(types, 1)
    return Type(Kind.BOOLEAN)


def _member(types: Types) -> Type:
    if len(types) < 2:
        raise Mismatch("needs at least one value in brackets")
    same(types)
    return Type(Kind.BOOLEAN, nullable(types))


def _all(*values: bool | None) -> bool | None:
    if any(v is False for v in values):
        return False
    return None if any(v is None for v in values) else True


def _any(*values: bool | None) -> bool | None:
    if any(v is True for v in values):
        return True
    return None if any(v is None for v in values) else False


def _in(value: Any, *members: Any) -> bool | None:
    return _any(*(None if value is None or m is None else value == m for m in members))


def _joined(word: str) -> Callable[[Sequence[str]], str]:
    return lambda args: f"({f' {word} '.join(args)})"


def _in_sql(args: Sequence[str]) -> str:
    return f"({args[0]} IN ({', '.join(args[1:])}))"


FUNCTIONS = (
    Function("=", _comparison, lambda a, b: a == b, "({0} = {1})", digits=wanted, commutative=True),
    Function("<>", _comparison, lambda a, b: a != b, "({0} <> {1})", digits=wanted, commutative=True),
    Function("<", _comparison, lambda a, b: a < b, "({0} < {1})", digits=wanted),
    Function("<=", _comparison, lambda a, b: a <= b, "({0} <= {1})", digits=wanted),
    Function(">", _comparison, lambda a, b: a > b, "({0} > {1})", digits=wanted),
    Function(">=", _comparison, lambda a, b: a >= b, "({0} >= {1})", digits=wanted),
    Function("and", _connective, _all, _joined("AND"), strict=False, commutative=True),
    Function("or", _connective, _any, _joined("OR"), strict=False, commutative=True),
    Function("not", _negation, lambda a: not a, "(NOT {0})"),
    Function("is_null", _is_null, lambda a: a is None, "({0} IS NULL)", strict=False),
    Function("in", _member, _in, _in_sql, strict=False, digits=wanted),
)
