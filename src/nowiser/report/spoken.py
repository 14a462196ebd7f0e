"""An expression of our tree as SQL people read. Never sent to an engine."""

from nowiser.sql.tree import Call, Column, Expression, Literal

_INFIX = {"+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "like"}


def spoken(e: Expression) -> str:
    match e:
        case Column():
            return e.declared.name
        case Literal():
            return f"'{e.value}'" if isinstance(e.value, str) else "NULL" if e.value is None else f"{e.value}"
        case Call(function=("and" | "or") as word):
            return f" {word.upper()} ".join(f"({spoken(a)})" for a in e.args)
        case Call(function=f) if f in _INFIX:
            return f"{_inner(e.args[0])} {f.upper()} {_inner(e.args[1])}"
        case Call(function="div"):
            return f"{_inner(e.args[0])} / {_inner(e.args[1])}"
        case Call(function="to_real"):
            return spoken(e.args[0])
        case Call():
            return f"{e.function.upper()}({', '.join(spoken(a) for a in e.args)})"
    raise AssertionError("results are spoken of by their names")


def _inner(e: Expression) -> str:
    if isinstance(e, Call) and e.function == "to_real":
        return _inner(e.args[0])
    return f"({spoken(e)})" if isinstance(e, Call) and e.function in {*_INFIX, "div", "and", "or"} else spoken(e)
