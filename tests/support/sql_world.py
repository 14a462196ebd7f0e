"""The policy all SQL pairs are read under."""

from fractions import Fraction

from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Protect, Role, Table

VISITS = Table(
    "visits",
    "canteen.csv",
    (
        Column("student", Kind.TEXT, Role.IDENTIFIER),
        Column("faculty", Kind.TEXT, Role.PUBLIC, domain=("math", "computer science")),
        Column("time", Kind.REAL, Role.SENSITIVE, Fraction(0), Fraction(60), nullable=False),
    ),
    person=("student",),
    protect=Protect.VALUES,
)
PATIENTS = Table(
    "patients",
    "patients.csv",
    (
        Column("id", Kind.INTEGER, Role.IDENTIFIER),
        Column("name", Kind.TEXT, Role.IDENTIFIER),
        Column("ward", Kind.TEXT, Role.PUBLIC, domain=("A", "B")),
        Column("born", Kind.DATE, Role.PUBLIC),
        Column("diagnosis", Kind.TEXT, Role.SENSITIVE, domain=("flu", "HIV"), nullable=False),
        Column("cost", Kind.REAL, Role.SENSITIVE, Fraction(0), Fraction(1000), nullable=False),
    ),
    person=("id",),
)
WARDS = Table("wards", "wards.csv", (Column("ward", Kind.TEXT, Role.PUBLIC),))
POLICY = Policy((VISITS, PATIENTS, WARDS), (), {})
