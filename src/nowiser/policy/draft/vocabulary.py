"""Words in names of columns, and what they make `nowiser init` propose. A custodian corrects what they get wrong."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PERSONS = _words("""
    person patient subject student customer client user employee member passenger borrower citizen respondent
    participant household resident driver rider guest ssn mrn nhs nino insured applicant tenant pupil
""")
IDS = _words("id pid uid uuid guid")
HARMLESS = _words("""
    sex gender day weekday week month quarter season year hour time color colour size class term town city county
    state region province country department dept faculty school shift floor language
""")
# a harmless word is not harmless beside one of these: `birth_month`, `patient_class`, `home_town`
TELLING = _words("""
    patient birth born death died home pickup dropoff diagnosis disease visit admission discharge social income race
    religion treatment test prison arrest native origin nationality citizenship citizen ethnic ethnicity
""")
# what hurts to be guessed, the worst first: a column of few values with such a name gets an attacker
HURTS = _words("""
    hiv diagnosis disease icd cancer illness pregnant survived alive died dead death deceased result outcome positive
    convicted crime arrested verdict religion orientation party vote treatment medication drug disability default
    salary income wage status
""")
MONEY = _words("""
    income salary wage pay earnings fare bill price cost charge amount balance debt loan total tip expenses wealth rent
""")
# digits that count nothing: nobody asks for their average, and near is not nearly right
CODES = _words("zip zipcode plz postcode postal postalcode code icd phone telephone mobile fax fips naics iban")
HEALTH = _words("""
    patient diagnosis disease icd hiv cancer illness treatment medication drug ward clinic hospital admission result ct
    symptom dose bmi therapy
""")
