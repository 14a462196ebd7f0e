"""Shares as people read them, everywhere alike: 23.2 %. What people type is `5%`."""


def percent(share: float | None, digits: int = 1) -> str:
    """A share between 0 and 1; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"
