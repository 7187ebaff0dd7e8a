"""What pytest --csan makes of tests with and without races; tests/shell/test_pytest.sh runs them."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import race


def test_ordered():
    assert race.run(ordered=True) == {2}


def test_racy():
    race.run(ordered=False)


def test_racy_again():
    race.run(ordered=False)  # the same race in another test fails that one, too


@pytest.mark.csan_allow
def test_allowed():
    race.run(ordered=False)


@pytest.mark.csan_allow("another_kernel")
def test_another_is_allowed():
    race.run(ordered=False)


@pytest.mark.csan_expect(match=r"fill \(.*race\.py", count=1)
def test_expected():
    race.run(ordered=False)


@pytest.mark.csan_expect
def test_expected_and_absent():
    race.run(ordered=True)


@pytest.fixture
def racy_fixture():
    race.run(ordered=False)


def test_with_racy_fixture(racy_fixture):
    pass


def test_racy_and_wrong():
    race.run(ordered=False)
    assert False, "its own failure"


@pytest.mark.xfail(reason="it fails, and has a race", strict=False)
def test_xfail_and_racy():
    race.run(ordered=False)
    assert False


@pytest.mark.skip
def test_skipped():
    race.run(ordered=False)


def test_nothing():
    print("no CUDA here")
