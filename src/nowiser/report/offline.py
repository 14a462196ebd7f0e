"""Altair charts that show themselves in a notebook without a network.

Altair's own fetch JavaScript from elsewhere when a cell shows them. Ours stay Altair charts (kept, changed, saved,
laid beside others) and answer the notebook with a drawn picture. Altair's settings are left alone, so other charts in
the same notebook look as their author wants; whoever enables a renderer (`altair.renderers.enable(…)`) gets it for
ours too.
"""

from typing import TYPE_CHECKING, Any

import altair as alt
from altair.utils import update_nested

from nowiser.report.theme import CONFIG

if TYPE_CHECKING:
    from altair import TopLevelMixin as _Base
else:  # Altair reads charts back as the first direct subclass of its mixin that fits; ours must not be among them
    _Base = object


class _Offline(_Base):
    """What ours do that others do not: the look is added when they are written out, so that they can be composed."""

    def to_dict(self: Any, *args: Any, **kwds: Any) -> Any:
        if not (kwds.get("context") or {}).get("top_level", True):
            return super().to_dict(*args, **kwds)
        whole = self.copy(deep=False)  # Altair refuses a part that has a look of its own
        own = {} if whole.config is alt.Undefined else whole.config.to_dict()
        whole.config = alt.Config(**update_nested(dict(CONFIG), own, copy=True))
        return super(_Offline, whole).to_dict(*args, **kwds)

    def _repr_mimebundle_(self: Any, *args: Any, **kwds: Any) -> Any:
        if alt.renderers.active != "default":
            return super()._repr_mimebundle_(*args, **kwds)
        return {"text/plain": f"<{type(self).__name__}: {_titled(self)}>", "image/svg+xml": svg(self)}

    def __add__(self: Any, other: Any) -> Any:
        return offline(super().__add__(other))

    def __or__(self: Any, other: Any) -> Any:
        return offline(super().__or__(other))

    def __and__(self: Any, other: Any) -> Any:
        return offline(super().__and__(other))


class OfflineChart(_Offline, alt.Chart):
    """One view."""


class OfflineLayers(_Offline, alt.LayerChart):
    """Views on top of each other."""


class OfflineRow(_Offline, alt.HConcatChart):
    """Views beside each other."""


class OfflineColumn(_Offline, alt.VConcatChart):
    """Views below each other."""


_KINDS: tuple[type[Any], ...] = (OfflineChart, OfflineLayers, OfflineRow, OfflineColumn)


def offline(chart: Any) -> Any:
    """The same chart, which draws itself in a notebook."""
    kind = next((k for k in _KINDS if type(chart) in k.__bases__), None)
    if kind is None:
        return chart  # it does already
    found = chart.copy(deep=False)
    # no second construction: Altair's constructors gather data and parameters anew. Its own __setattr__ would take
    # the class for a property of the chart
    object.__setattr__(found, "__class__", kind)
    return found


def svg(chart: Any) -> str:
    """The picture."""
    import vl_convert as vlc

    drawn: str = vlc.vegalite_to_svg(chart.to_dict(format="vega-lite"))
    return drawn


def _titled(chart: Any) -> str:
    title = chart.title
    return str(title.get("text", "")) if isinstance(title, dict) else "" if title is alt.Undefined else str(title)
