"""Days and microseconds since 1970 ↔ the calendar, in whole numbers: proleptic Gregorian, as all engines reckon."""

DAY = 86_400_000_000  # microseconds
FIRST, LAST = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31: what preparation lets through
LATEST = 72_000_000  # somewhere in the year 199,000: what every engine can still hold


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day."""
    era, rest = divmod(days + 719_468, 146_097)
    year = (rest - rest // 1460 + rest // 36_524 - rest // 146_096) // 365
    day = rest - (365 * year + year // 4 - year // 100)
    turn = (5 * day + 2) // 153  # months counted from March
    month = turn + 3 if turn < 10 else turn - 9
    return year + era * 400 + (month <= 2), month, day - (153 * turn + 2) // 5 + 1


def days(year: int, month: int, day: int) -> int:
    """The inverse of `civil`."""
    year -= month <= 2
    era, rest = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + rest * 365 + rest // 4 - rest // 100 + of_year - 719_468


def weekday(day: int) -> int:
    """Monday is 1, Sunday 7."""
    return (day + 3) % 7 + 1


def week(day: int) -> int:
    """The week of ISO 8601: the first has the year's first Thursday."""
    thursday = day + 4 - weekday(day)
    return (thursday - days(civil(thursday)[0], 1, 1)) // 7 + 1


def month_length(year: int, month: int) -> int:
    following = (year + 1, 1) if month == 12 else (year, month + 1)
    return days(*following, 1) - days(year, month, 1)


def later(day: int, months: int) -> int:
    """The same day so many months later, or the last of that month."""
    year, month, of_month = civil(day)
    years, turn = divmod(month - 1 + months, 12)
    return days(year + years, turn + 1, min(of_month, month_length(year + years, turn + 1)))


def started(day: int, unit: str) -> int:
    """The first day of the year, quarter, month or week a day lies in."""
    year, month, _ = civil(day)
    match unit:
        case "year":
            return days(year, 1, 1)
        case "quarter":
            return days(year, (month - 1) // 3 * 3 + 1, 1)
        case "month":
            return days(year, month, 1)
        case "week":
            return day + 1 - weekday(day)
    return day
