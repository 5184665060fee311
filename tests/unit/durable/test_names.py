"""Short names of incidents."""

from hypothesis import given
from hypothesis import strategies as st

from tailhound.durable.names import ALPHABET, SHORTEST, long_name, short_name


def test_names_have_no_sign_that_is_read_as_another() -> None:
    assert len(set(ALPHABET)) == 32
    assert not set(ALPHABET) & set("ILOU")


@given(st.text(), st.integers(min_value=0, max_value=10_000))
def test_a_name_depends_on_key_and_ordinal_alone(key: str, ordinal: int) -> None:
    name = short_name(key, ordinal, lambda _name: False)
    assert name == short_name(key, ordinal, lambda _name: False)
    assert len(name) == SHORTEST
    assert set(name) <= set(ALPHABET)
    assert long_name(key, ordinal) != long_name(key, ordinal + 1)


def test_a_taken_name_gets_longer() -> None:
    taken: set[str] = set()
    for _ in range(5):
        name = short_name("key", 0, taken.__contains__)
        assert name not in taken
        taken.add(name)
    assert sorted(map(len, taken)) == [4, 5, 6, 7, 8]


def test_names_of_many_incidents_are_all_different() -> None:
    taken: set[str] = set()
    for i in range(5_000):
        name = short_name(f"workload:/prod/llm-{i}", 0, taken.__contains__)
        assert name not in taken
        taken.add(name)
    assert max(map(len, taken)) <= 6
