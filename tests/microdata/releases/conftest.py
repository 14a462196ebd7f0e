import pytest

from support.released_people import people


@pytest.fixture
def policy(tmp_path):
    return people(tmp_path)
