"""Five tables shaped like ones in public collections, seeded: what a stranger tries first. Nobody in them is real.

| table   | rows   | like                                                   |
|---------|--------|--------------------------------------------------------|
| taxis   | 6,433  | taxi rides of New York, March 2019                     |
| titanic | 891    | passengers of the Titanic                              |
| tips    | 244    | bills and tips of one waiter                           |
| loans   | 10,000 | loans of a lending club                                |
| covid   | 15,524 | tests of a children's hospital in its first 107 days   |

Sizes, kinds, ranges, means, skewness and the columns that determine each other are those of the originals.
`TEN` has ten natural questions for each: counts, averages, by a category, a share, a median.
"""

import csv
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

Table = tuple[list[str], list[Sequence[Any]]]


def _amount(draw: random.Random, median: float, spread: float, low: float, high: float) -> float:
    return round(min(high, max(low, median * draw.lognormvariate(0, spread))), 2)


def taxis() -> Table:
    draw = random.Random(2019)
    boroughs = {"Manhattan": 5268, "Queens": 657, "Brooklyn": 383, "Bronx": 99, "": 26}
    zones = {name: [f"{name} {i}" for i in range(70 if name == "Manhattan" else 40)] for name in boroughs if name}
    rows: list[Sequence[Any]] = []
    for number in range(6433):
        start = datetime(2019, 3, 1) + timedelta(seconds=draw.randrange(31 * 86_400))  # noqa: DTZ001
        distance = _amount(draw, 1.8, 1.0, 0, 36.7)
        fare = round(min(150.0, max(1.0, 2.5 + 2.6 * distance + draw.expovariate(1 / 3))) * 2) / 2
        fare = 150.0 if number == 0 else fare
        card = draw.random() < 0.715
        tip = round(fare * draw.choice([0, 0.15, 0.2, 0.2, 0.25]) * draw.uniform(1.0, 1.6), 2) if card else 0.0
        tolls = draw.choices([0, 5.76, 10.5], [95, 4, 1])[0]
        total = round(fare + min(tip, 33.2) + tolls + draw.choice([0.8, 1.3, 3.3, 3.8]), 2)
        borough = draw.choices(list(boroughs), list(boroughs.values()))[0]
        to = draw.choices(list(boroughs), list(boroughs.values()))[0]
        rows.append([
            start, start + timedelta(seconds=int(120 + 300 * distance * draw.uniform(0.6, 1.6))),
            draw.choices(range(7), [96, 4678, 887, 243, 111, 259, 159])[0], distance, fare, min(tip, 33.2), tolls, total,
            draw.choices(["yellow", "green"], [5451, 982])[0],
            ("credit card" if card else "cash") if draw.random() < 0.993 else "",
            draw.choice(zones[borough]) if borough else "", draw.choice(zones[to]) if to else "", borough, to,
        ])  # fmt: skip
    return [
        "pickup", "dropoff", "passengers", "distance", "fare", "tip", "tolls", "total", "color", "payment",
        "pickup_zone", "dropoff_zone", "pickup_borough", "dropoff_borough",
    ], rows  # fmt: skip


def titanic() -> Table:
    draw = random.Random(1912)
    rows: list[Sequence[Any]] = []
    classes = {1: (216, 70.0, 0.6, 38, "First"), 2: (184, 18.0, 0.45, 30, "Second"), 3: (491, 11.0, 0.5, 25, "Third")}
    for number in range(891):
        pclass = draw.choices(list(classes), [c[0] for c in classes.values()])[0]
        _, price, spread, years, spelled = classes[pclass]
        sex = draw.choices(["male", "female"], [577, 314])[0]
        age = round(min(80.0, max(0.5, draw.gauss(years, 14))) * 2) / 2
        known = draw.random() < 0.8
        survived = (
            draw.random() < ({1: 0.97, 2: 0.92, 3: 0.5} if sex == "female" else {1: 0.37, 2: 0.16, 3: 0.14})[pclass]
        )
        town = draw.choices(["Southampton", "Cherbourg", "Queenstown"], [644, 168, 77])[0]
        siblings, parents = (
            draw.choices(range(6), weights)[0] for weights in ([608, 209, 28, 16, 18, 5], [678, 118, 80, 5, 4, 5])
        )
        deck = draw.choices("ABCDEFG", [15, 47, 59, 33, 32, 13, 4])[0] if draw.random() < 0.23 else ""
        who = "child" if age < 16 else "man" if sex == "male" else "woman"
        fare = 512.3292 if number < 3 else _amount(draw, price, spread, 0, 512.3292)
        rows.append([
            int(survived), pclass, sex, age if known else "", siblings, parents, fare,
            town[0], spelled, who, who == "man", deck, town, "yes" if survived else "no", siblings + parents == 0,
        ])  # fmt: skip
    return [
        "survived", "pclass", "sex", "age", "sibsp", "parch", "fare", "embarked", "class", "who", "adult_male", "deck",
        "embark_town", "alive", "alone",
    ], rows  # fmt: skip


def tips() -> Table:
    draw = random.Random(244)
    rows: list[Sequence[Any]] = []
    for _ in range(244):
        day = draw.choices(["Sat", "Sun", "Thur", "Fri"], [87, 76, 62, 19])[0]
        bill = _amount(draw, 18.2, 0.43, 3.07, 50.81)
        tip = round(min(10.0, max(1.0, 0.95 + 0.105 * bill + draw.gauss(0, 1))), 2)
        time = "Lunch" if day == "Thur" or (day == "Fri" and draw.random() < 0.4) else "Dinner"
        rows.append([
            bill, tip, draw.choices(["Male", "Female"], [157, 87])[0], draw.choices(["No", "Yes"], [151, 93])[0], day, time,
            draw.choices(range(1, 7), [4, 156, 38, 37, 5, 4])[0],
        ])  # fmt: skip
    return ["total_bill", "tip", "sex", "smoker", "day", "time", "size"], rows


def loans() -> Table:
    draw = random.Random(10_000)
    rows: list[Sequence[Any]] = []
    grades = {
        "A": (2459, 6.7),
        "B": (3037, 10.5),
        "C": (2653, 14.2),
        "D": (1446, 19.1),
        "E": (335, 25.0),
        "F": (58, 29.5),
        "G": (12, 30.8),
    }
    purposes = {
        "debt_consolidation": 5144, "credit_card": 2249, "other": 914, "home_improvement": 680, "major_purchase": 303,
        "medical": 162, "house": 151, "car": 131, "small_business": 125, "moving": 69, "vacation": 62, "renewable_energy": 10,
    }  # fmt: skip
    status = {
        "Current": 9375,
        "Fully Paid": 447,
        "In Grace Period": 67,
        "Late (31-120 days)": 66,
        "Late (16-30 days)": 38,
        "Charged Off": 7,
    }
    for number in range(10_000):
        grade = draw.choices(list(grades), [g[0] for g in grades.values()])[0]
        amount = max(1000, min(40_000, round(draw.betavariate(1.15, 1.6) * 39_000 / 25) * 25 + 1000))
        income = 2_300_000 if number < 2 else round(_amount(draw, 66_000, 0.57, 0, 1_000_000))
        rows.append([
            amount, round(min(30.94, max(5.31, draw.gauss(grades[grade][1], 1.1))), 2), draw.choices([36, 60], [70, 30])[0], grade,
            draw.choices(list(purposes), list(purposes.values()))[0], draw.choices(list(status), list(status.values()))[0],
            income, draw.choices(["MORTGAGE", "RENT", "OWN"], [4789, 3858, 1353])[0],
            draw.choice(["CA", "TX", "NY", "FL", "IL", "NJ", "OH", "GA", "PA", "NC"]), draw.choices(range(11), [8] * 10 + [33])[0],
        ])  # fmt: skip
    return [
        "loan_amount", "interest_rate", "term", "grade", "loan_purpose", "loan_status", "annual_income", "homeownership", "state",
        "emp_length",
    ], rows  # fmt: skip


def covid() -> Table:
    draw = random.Random(107)
    rows: list[Sequence[Any]] = []
    subject, person = 0, ("", 0.0, "")
    classes = {
        "not applicable": 7077,
        "inpatient": 2300,
        "emergency": 2300,
        "recurring outpatient": 1800,
        "outpatient": 1500,
        "surgery": 547,
    }
    clinics = [f"clinic {c}" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    for number in range(15_524):
        if not rows or draw.random() < 0.8:
            subject += 1
            age = round(min(95.0, abs(draw.gauss(0, 11)) if draw.random() < 0.75 else draw.uniform(18, 95)), 1)
            person = (
                draw.choice(["male", "female"]),
                age,
                draw.choices(["patient", "misc adult", "client", "unidentified"], [93, 4, 2, 1])[0],
            )
        result = draw.choices(["negative", "positive", "invalid"], [14_358, 865, 301])[0]
        ct = round(draw.uniform(14, 45), 2) if result == "positive" else 45.0
        rows.append([
            subject, person[0], draw.randrange(4, 108), 100_000 + number, draw.choice(clinics), result, person[2], person[1],
            int(draw.random() < 0.52), ct if result != "invalid" else "", draw.choice([0, 1]),
            draw.choices(["commercial", "government", "unassigned", ""], [4000, 3500, 800, 7087])[0],
            draw.choices(list(classes), list(classes.values()))[0], round(draw.lognormvariate(1, 0.8), 1), round(draw.lognormvariate(1.5, 0.5), 1),
        ])  # fmt: skip
    return [
        "subject_id", "gender", "pan_day", "test_id", "clinic_name", "result", "demo_group", "age", "drive_thru_ind", "ct_result",
        "orderset", "payor_group", "patient_class", "col_rec_tat", "rec_ver_tat",
    ], rows  # fmt: skip


TABLES: dict[str, Callable[[], Table]] = {
    "taxis": taxis,
    "titanic": titanic,
    "tips": tips,
    "loans": loans,
    "covid": covid,
}

TEN: dict[str, tuple[str, ...]] = {
    "taxis": (
        "SELECT COUNT(*) FROM taxis",
        "SELECT AVG(fare) FROM taxis",
        "SELECT AVG(tip) FROM taxis",
        "SELECT AVG(distance) FROM taxis",
        "SELECT color, COUNT(*) FROM taxis GROUP BY color",
        "SELECT pickup_borough, COUNT(*) FROM taxis GROUP BY pickup_borough",
        "SELECT payment, AVG(fare) FROM taxis GROUP BY payment",
        "SELECT AVG(CASE WHEN payment = 'cash' THEN 1 ELSE 0 END) FROM taxis",
        "SELECT color, AVG(total) FROM taxis GROUP BY color",
        "SELECT MEDIAN(fare) FROM taxis",
    ),
    "titanic": (
        "SELECT COUNT(*) FROM titanic",
        "SELECT AVG(survived) FROM titanic",
        "SELECT sex, AVG(survived) FROM titanic GROUP BY sex",
        "SELECT pclass, COUNT(*) FROM titanic GROUP BY pclass",
        "SELECT pclass, AVG(survived) FROM titanic GROUP BY pclass",
        "SELECT AVG(age) FROM titanic",
        "SELECT AVG(fare) FROM titanic",
        "SELECT sex, COUNT(*) FROM titanic GROUP BY sex",
        "SELECT embark_town, COUNT(*) FROM titanic GROUP BY embark_town",
        "SELECT MEDIAN(age) FROM titanic",
    ),
    "tips": (
        "SELECT COUNT(*) FROM tips",
        "SELECT AVG(total_bill) FROM tips",
        "SELECT AVG(tip) FROM tips",
        "SELECT day, COUNT(*) FROM tips GROUP BY day",
        "SELECT AVG(CASE WHEN smoker = 'Yes' THEN 1 ELSE 0 END) FROM tips",
        "SELECT sex, AVG(tip) FROM tips GROUP BY sex",
        "SELECT time, AVG(total_bill) FROM tips GROUP BY time",
        "SELECT AVG(size) FROM tips",
        "SELECT SUM(tip) / SUM(total_bill) FROM tips",
        "SELECT MEDIAN(total_bill) FROM tips",
    ),
    "loans": (
        "SELECT COUNT(*) FROM loans",
        "SELECT AVG(loan_amount) FROM loans",
        "SELECT AVG(interest_rate) FROM loans",
        "SELECT AVG(annual_income) FROM loans",
        "SELECT grade, COUNT(*) FROM loans GROUP BY grade",
        "SELECT grade, AVG(interest_rate) FROM loans GROUP BY grade",
        "SELECT loan_purpose, COUNT(*) FROM loans GROUP BY loan_purpose",
        "SELECT AVG(CASE WHEN loan_status = 'Fully Paid' THEN 1 ELSE 0 END) FROM loans",
        "SELECT homeownership, AVG(loan_amount) FROM loans GROUP BY homeownership",
        "SELECT MEDIAN(annual_income) FROM loans",
    ),
    "covid": (
        "SELECT COUNT(*) FROM covid",
        "SELECT result, COUNT(*) FROM covid GROUP BY result",
        "SELECT AVG(CASE WHEN result = 'positive' THEN 1 ELSE 0 END) FROM covid",
        "SELECT AVG(age) FROM covid",
        "SELECT gender, COUNT(*) FROM covid GROUP BY gender",
        "SELECT patient_class, COUNT(*) FROM covid GROUP BY patient_class",
        "SELECT AVG(drive_thru_ind) FROM covid",
        "SELECT AVG(ct_result) FROM covid WHERE result = 'positive'",
        "SELECT gender, AVG(age) FROM covid GROUP BY gender",
        "SELECT MEDIAN(age) FROM covid",
    ),
}


def write(name: str, folder: Path) -> Path:
    """The table as a csv file, the same in every run."""
    header, rows = TABLES[name]()
    target = folder / f"{name}.csv"
    with target.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)
    return target
