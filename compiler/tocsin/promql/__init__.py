"""PromQL with a place for everything: the expressions that every Prometheus from 2.42 to 3.5 takes, as trees.

`parse` and `parse_selector` read a text and raise PromqlError, with the characters it is about, for the first mistake
of grammar or of types; `walk`, `selectors`, `metric_names` and `type_of` look at the tree; `quote`, `matcher` and
`Selector.render` write PromQL from values, so that no value can end its string. What is newer than 2.42, needs a
feature flag or is from another dialect is refused with the version or the way to write it. Beyond Prometheus' own
parser, these are refused: a range vector or a string as the result; labels and regular expressions in label_replace,
label_join and count_values that fail when a rule is evaluated; a hexadecimal number with an e as its second digit,
which 3.x misreads; `x @ end()[5m]`, which it lets pass although a range stands before `@`; brackets in more than
MAX_NESTING levels and trees of more than MAX_DEPTH. What is left to promtool stands at `regexp.matches_empty`.
"""

from tocsin.promql.errors import PromqlError
from tocsin.promql.functions import AGGREGATIONS, FUNCTIONS, Function, ValueType
from tocsin.promql.literals import quote
from tocsin.promql.parser import MAX_DEPTH, MAX_NESTING, parse, parse_selector
from tocsin.promql.tree import (
    Aggregation,
    At,
    Binary,
    Call,
    Duration,
    Expr,
    Grouping,
    Label,
    Matcher,
    Matching,
    Number,
    Paren,
    Range,
    Selector,
    String,
    Subquery,
    Unary,
    children,
    matcher,
    metric_names,
    selectors,
    type_of,
    walk,
)

__all__ = [
    "AGGREGATIONS",
    "FUNCTIONS",
    "MAX_DEPTH",
    "MAX_NESTING",
    "Aggregation",
    "At",
    "Binary",
    "Call",
    "Duration",
    "Expr",
    "Function",
    "Grouping",
    "Label",
    "Matcher",
    "Matching",
    "Number",
    "Paren",
    "PromqlError",
    "Range",
    "Selector",
    "String",
    "Subquery",
    "Unary",
    "ValueType",
    "children",
    "matcher",
    "metric_names",
    "parse",
    "parse_selector",
    "quote",
    "selectors",
    "type_of",
    "walk",
]
