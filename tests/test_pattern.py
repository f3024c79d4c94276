"""Regular expressions: judged as Prometheus judges them, in linear time, with examples that match."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.pattern import MAX_LENGTH, PatternError, example, literal, matches, validate

# Text that a spec can hold: everything but lone surrogates.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)

ATOMS = st.sampled_from(
    ["a", "b", "7", "-", "_", r"\.", r"\d", r"\w", r"\S", r"\-", ".", "[0-9]", "[a-z_]", "[^/]", "[]a]", "[[:alpha:]]"]
)
QUANTIFIERS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "{0}", "+?", "*?"])


def repeated(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Atoms with what may stand behind them."""
    return st.builds(lambda atom, quantifier: atom + quantifier, atoms, QUANTIFIERS)


def grouped(patterns: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Alternatives of sequences of patterns, in each kind of group."""
    sequences = st.lists(patterns, max_size=3).map("".join)
    alternatives = st.lists(sequences, min_size=1, max_size=3).map("|".join)
    opening = st.sampled_from(["(", "(?:", "(?P<name>", "(?s:"])
    return repeated(st.builds(lambda start, inside: f"{start}{inside})", opening, alternatives))


PATTERNS = st.lists(st.recursive(repeated(ATOMS), grouped, max_leaves=8), max_size=3).map("".join)


@pytest.mark.parametrize(
    ("pattern", "text", "whole"),
    [
        ("a|b", "a", True),
        ("a|b", "ab", False),
        ("gpu-node-[0-9]{2}", "gpu-node-07", True),
        ("gpu-node-[0-9]{2}", "gpu-node-071", False),
        ("gpu-node-[0-9]{2}", "xgpu-node-07", False),
        ("^a$", "a", True),
        (".*", "", True),
        (".+", "", False),
        ("(?i)east", "East", True),
        (".", "é", True),  # a character, not a byte
        ("..", "😀", False),
        ("a", "a\n", False),
    ],
)
def test_the_whole_text_must_match(pattern: str, text: str, whole: bool) -> None:
    assert matches(pattern, text) is whole


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing )"),
        ("a)", "unexpected )"),
        ("[a", "missing ]"),
        ("*a", "no argument for repetition operator"),
        ("a**", "bad repetition operator"),
        ("a++", "bad repetition operator"),
        ("a{1001}", "invalid repetition size"),
        ("(a{999}){999}", "invalid repetition size"),
        ("(?=a)", "invalid perl operator"),
        ("(?!a)", "invalid perl operator"),
        ("(?<=a)b", "invalid"),
        ("(?>a)", "invalid perl operator"),
        (r"(a)\1", "invalid escape sequence"),
        (r"a\Z", "invalid escape sequence"),
        ("[z-a]", "invalid character class range"),
        ("[[:letters:]]", "invalid character class range"),
        ("a\\", "trailing"),
        ("a" * (MAX_LENGTH + 1), f"longer than {MAX_LENGTH} characters"),
    ],
)
def test_what_prometheus_refuses_is_refused_with_a_reason(
    pattern: str, reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(PatternError, match=re.escape(reason)):
        validate(pattern)
    assert capfd.readouterr() == ("", "")  # the library would talk to standard error


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a*)*b", "(.*a){9}b"])
def test_no_expression_takes_more_than_linear_time(pattern: str) -> None:
    """A backtracking engine would take longer than anyone waits."""
    assert not matches(pattern, "a" * 20_000)
    assert matches(pattern, "a" * 20_000 + "b")


@given(TEXT)
def test_a_literal_matches_its_text(text: str) -> None:
    validate(literal(text))
    assert matches(literal(text), text)


@given(TEXT, TEXT)
def test_a_literal_matches_nothing_else(text: str, other: str) -> None:
    assert matches(literal(text), other) == (text == other)
    assert not matches(literal(text), text + "x")
    assert not matches(literal(text), text.swapcase()) or text == text.swapcase()


@pytest.mark.parametrize("text", ["vision", "a.b", "vision-batch", r"\-", "(a)", "a|b", "[x]", "$1", "^", "a\nb", "é"])
def test_a_literal_stands_for_itself_between_others(text: str) -> None:
    either = f"{literal(text)}|zz"
    assert matches(either, text)
    assert matches(either, "zz")
    assert not matches(either, f"{text}zz")


def test_names_with_hyphens_stay_readable() -> None:
    assert literal("gpu-node-01") == "gpu-node-01"
    assert literal("gpu.node") == r"gpu\.node"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("5..", "500"),
        ("gpu-node-[0-9]{2}", "gpu-node-00"),
        ("GPU-[0-9a-f-]{36}", f"GPU-{'0' * 36}"),
        ("(GPU|MIG)-[0-9a-f-]+", "GPU-0"),
        ("[1-5][0-9]{2}", "100"),
        ("chat|embed", "chat"),
        ("[45]..", "400"),
        ("[^0-9A-Za-z]{3}", "___"),
        ('["&]', '"'),
        ("chat-.*", "chat-"),
        (".+", "0"),
        ("", ""),
        ("^a?b$", "b"),
        (r"a\.b", "a.b"),
        ("((a|b)+c){2}", "acac"),
    ],
)
def test_an_example_of_a_usual_expression(pattern: str, text: str) -> None:
    assert example(pattern) == text


@given(PATTERNS)
def test_every_ordinary_expression_has_an_example_that_matches(pattern: str) -> None:
    validate(pattern)
    text = example(pattern)
    assert text is not None
    assert matches(pattern, text)


@given(st.text(alphabet="ab01.*+?{},()[]|^$\\-dwQE:P<>i", max_size=20))
def test_whatever_is_written_has_an_example_that_matches_or_none(pattern: str) -> None:
    text = example(pattern)
    assert text is None or matches(pattern, text)


def test_no_example_is_written_for_what_is_refused() -> None:
    """It would fill any memory."""
    assert example("(((((a{999}){999}){999}){999}){999})") is None


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[", "\\", "(?=a)", r"\bx\B", "[^\x00-\U0010ffff]", "(" * 1000])
def test_where_there_is_no_example_none_is_given(pattern: str) -> None:
    assert example(pattern) is None
