"""A prior as `nowiser init` is told it, in the words of `nowiser guess --prior`, and as the policy file says it.

uniform   unknown   uniform:12:28   normal:20:5   lognormal:3:0.5   histogram:0,18,65,120:2,6,2
categories:soup=30,curry=70   census.csv:minutes
"""

from nowiser.errors import Misconfigured
from nowiser.model.schema import Kind
from nowiser.policy.draft.profile import Seen
from nowiser.policy.draft.spelling import spell

FORMS = (
    "uniform, unknown, uniform:low:high, normal:mean:sd, lognormal:mean:sd, histogram:edges:weights, "
    "categories:a=30,b=70, file.csv:column"
)


def in_yaml(text: str) -> str:
    """The prior as the policy says it. Whether its numbers make sense, the reader of policies says."""
    form, _, rest = text.strip().partition(":")
    parts = [part.strip() for part in rest.split(":")] if rest else []
    match form.strip().lower(), parts:
        case ("uniform" | "unknown") as word, []:
            return word
        case "uniform", [low, high]:
            return f"{{uniform: [{_number(low)}, {_number(high)}]}}"
        case ("normal" | "lognormal") as bell, [mean, sd]:
            return f"{{{bell}: {{mean: {_number(mean)}, sd: {_number(sd)}}}}}"
        case "histogram", [edges, weights]:
            return f"{{histogram: {{edges: [{_numbers(edges)}], weights: [{_numbers(weights)}]}}}}"
        case "categories", [shares]:
            pairs = [piece.rpartition("=") for piece in shares.split(",")]
            if all(equals and label.strip() for label, equals, _ in pairs):
                said = ", ".join(f"{spell(label.strip())}: {_number(share)}" for label, _, share in pairs)
                return f"{{categories: {{{said}}}}}"
    path, _, column = text.strip().rpartition(":")
    if "." in path and column:
        return f"{{empirical: {{file: {spell(path)}, column: {spell(column)}}}}}"
    raise Misconfigured(f"{text!r} is no prior", hint=f"Forms: {FORMS}.")


def at_first(seen: Seen) -> str:
    """Every value of the range or list equally likely; unknown where neither is declared, or only one value."""
    several = seen.kind is Kind.BOOLEAN or len(seen.values or ()) > 1 or seen.has_range or seen.is_dated
    return "uniform" if several else "unknown"


def _numbers(text: str) -> str:
    return ", ".join(_number(part) for part in text.split(","))


def _number(text: str) -> str:
    written = text.strip()
    try:
        float(written.removesuffix("%"))
    except ValueError:
        raise Misconfigured(f"a number must stand where {written!r} stands", hint=f"Forms: {FORMS}.") from None
    return written
