"""Charts of the project's own kind as SVG that stands in a page: no background, no scripts, colours by style sheet."""

import json
import re
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from nowiser.report.offline import offline

# Said by the figure around it; what Vega says inside is for charts that are alone.
_SPOKEN = re.compile(r' (?:role|aria-[a-z]+|tabindex)="[^"]*"')


def picture(chart: Any) -> Markup:
    """An Altair chart as SVG. Every text in it was escaped by the one who drew it."""
    chart = offline(chart).properties(background="transparent", padding=2)
    return Markup(_drawn(json.dumps(chart.to_dict(format="vega-lite"))))  # noqa: S704 (drawn by vl-convert, no markup)


@lru_cache(maxsize=64)
def _drawn(spec: str) -> str:
    import vl_convert

    return _SPOKEN.sub("", vl_convert.vegalite_to_svg(json.loads(spec)))
