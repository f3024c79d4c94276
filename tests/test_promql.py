"""PromQL: what is read from it, what is said about mistakes in it, and what is written."""

import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tocsin import promql
from tocsin.promql import (
    FUNCTIONS,
    MAX_DEPTH,
    MAX_NESTING,
    Aggregation,
    At,
    Binary,
    Call,
    Duration,
    Expr,
    Number,
    Paren,
    PromqlError,
    Range,
    Selector,
    String,
    Subquery,
    Unary,
    children,
    matcher,
    metric_names,
    parse,
    parse_selector,
    quote,
    selectors,
    type_of,
    walk,
)
from tocsin.promql.functions import NOT_PORTABLE
from tocsin.promql.usual import usual_selector

SAME_EVERY_TIME = settings(derandomize=True, deadline=None, database=None, max_examples=300)

# A text, marks below the characters of the mistake with the message, and an arrow with the hint.
# `|` marks a place behind the last character of a word, where something is missing.
MISTAKES = r"""
# grammar

x +
   | an operand is missing after `+`

* x
^ a metric, a number, a function or `(` is expected, not `*`

x y
  ^ an operator is missing before `y`

sum x
    ^ an operator is missing before `x`
    → write `sum(x…)`

x, y
 ^ a comma stands only between arguments
 → write one expression

(x
^ `(` is never closed
→ add the missing `)`

x)
 ^ `)` closes nothing
 → remove it, or open it with `(`

x{a="b"
 ^ `{` is never closed
 → add the missing `}`

x{a
 ^ `{` is never closed
 → add the missing `}`

x{a=
 ^ `{` is never closed
 → add the missing `}`

x[5m
 ^ `[` is never closed
 → add the missing `]`

x[1h:5m
 ^ `[` is never closed
 → add the missing `]`

x[5m]]
     ^ `]` closes nothing
     → remove it, or open it with `[`

x{a="b"}{c="d"}
        ^ braces stand only behind the name of a metric
        → put all matchers into one pair of braces

()
 ^ a metric, a number, a function or `(` is expected, not `)`

sum(x,)
     ^ the last argument of `sum()` is followed by a comma
     → remove the comma

sum(x y)
      ^ an operator is missing before `y`

5 x
  ^ an operator is missing before `x`

[5m]
^ a metric, a number, a function or `(` is expected, not `[`
→ a range stands behind a selector: `metric[5m]`

x > on (a) bool y
           ^^^^ `bool` cannot stand here
           → it stands directly behind a comparison: `x > bool y`

x group_left y
  ^^^^^^^^^^ `group_left` cannot stand here
  → it stands directly behind `on (…)` or `ignoring (…)`

x * group_left y
    ^^^^^^^^^^ `group_left` cannot stand here
    → it stands directly behind `on (…)` or `ignoring (…)`

x * on y
       ^ `(` is missing behind `on`
       → write `on (…)` with the names of the labels

x * on (a) group_left (y)
                         | an operand is missing after `)`
                         → the parentheses behind `group_left` and `group_right` hold labels: write `group_left () (…)`

x * on (a) group_left (y + z)
                         ^ `,` or `)` is expected in the labels of `group_left`, not `+`
                         → for an operand in parentheses write `group_left () (…)`

x atan2 atan2
        ^^^^^ `atan2` cannot stand here
        → it stands between two operands; a metric of that name is {__name__="atan2"}

rate(x[5m]) by (job)
            ^^ `by` belongs to an aggregation
            → write `sum by (…) (…)`, or another aggregation

summ by (job) (x)
^^^^ there is no aggregation `summ`
→ did you mean `sum`?

up by (job)
   ^^ `by` belongs to an aggregation
   → write `sum by (…) (…)`, or another aggregation

sum by (job) x
             ^ the parentheses of `sum` are missing
             → write `sum by (…) (…)`

sum by (job) (x) by (job)
                 ^^ `sum` is grouped twice
                 → put all labels into one `by (…)`

sum by (job instance) (x)
            ^^^^^^^^ `,` or `)` is expected in the labels of `by`, not `instance`

sum by (5) (x)
        ^ the name of a label is expected, not `5`

sum by (a:b) (x)
        ^^^ `a:b` cannot name a label
        → a label has no `:` and is not `Inf` or `NaN`

by(x)
^^ `by` is not a function

job:x:sum(y)
^^^^^^^^^ `job:x:sum` is a recorded series, not a function
→ leave the parentheses out

start()
^^^^^ `start()` stands only behind `@`
→ write `metric @ end()`

# other dialects

x = 1
  ^ PromQL has no operator `=`
  → write `==`

x => 1
  ^^ PromQL has no operator `=>`
  → write `>=`

x =< 1
  ^^ PromQL has no operator `=<`
  → write `<=`

x <> 1
  ^^ PromQL has no operator `<>`
  → write `!=`

x ** 2
  ^^ PromQL has no operator `**`
  → write `^`

x && y
  ^^ PromQL has no operator `&&`
  → write `and`

x | y
  ^ PromQL has no operator `|`
  → write `or`

!x
^ PromQL has no operator `!`
→ `unless` excludes series, `!=` compares, `== bool 0` turns 0 into 1

x =~ "y"
  ^^ `=~` compares the values of labels
  → write it inside braces: `metric{label=~"…"}`

x == "y"
     ^^^ `==` expects instant vectors or scalars, `"y"` is a string
     → label values are compared inside braces: `metric{label="…"}`

x{a=="b"}
   ^^ inside braces a single `=` compares
   → write a="…"

x{a=b}
    ^ the value of a label stands in quotes
    → write "b"

x{a}
   ^ `=`, `!=`, `=~` or `!~` is expected behind `a`, not `}`
   → write a="…"

x{a < "b"}
    ^ `=`, `!=`, `=~` or `!~` is expected behind `a`, not `<`
    → write a="…"

x{a= ="b"}
     ^ inside braces a single `=` compares
     → write `=` once

x{a=(b)}
    ^ the value of a label is expected, not `(`
    → write it in quotes, "…"

x{, a="b"}
  ^ the name of a label is expected, not `,`

x{a="b" c="d"}
        ^ `,` or `}` is expected in the braces, not `c`

x{a="b" or c="d"}
        ^^ `or` inside braces is not PromQL
        → write two selectors: `x{…} or x{…}`

my.metric
  ^ names have no dots
  → a metric is named with letters, digits, `_` and `:`, a label without the `:`

my-metric{a.b="c"}
           ^ names have no dots
           → a metric is named with letters, digits, `_` and `:`, a label without the `:`

x ≥ 1
  ^ `≥` means nothing in PromQL
  → write `>=`

x{a=“b”}
    ^ `“` means nothing in PromQL
    → write `"`

x × 2
  ^ `×` means nothing in PromQL
  → write `*`

x[$__rate_interval]
  ^^^^^^^^^^^^^^^^ `$__rate_interval` is a variable of a dashboard, not PromQL
  → write the value itself: nothing replaces variables in a rule

x{job="a"} > ${limit}
             ^^^^^^^^ `${limit}` is a variable of a dashboard, not PromQL
             → write the value itself: nothing replaces variables in a rule

x;
 ^ `;` means nothing in PromQL

0b11
^^^^ `0b11` is neither a number nor a duration
→ a number is written like `0.5` or `1e6`, a duration like `1h30m` with the units ms, s, m, h, d, w and y

0x1p3
^^^^^ `0x1p3` is neither a number nor a duration
→ a number is written like `0.5` or `1e6`, a duration like `1h30m` with the units ms, s, m, h, d, w and y

1e
^^ `1e` is neither a number nor a duration
→ a number is written like `0.5` or `1e6`, a duration like `1h30m` with the units ms, s, m, h, d, w and y

5min
^^^^ `5min` is not a duration
→ write `5m`

1_000
^^^^^ `1_000` is a number only since Prometheus 2.54
→ write `1000`

1.5h
^^^^ `1.5h` is not a duration: the numbers in it must be whole
→ write `1h30m`

# newer than Prometheus 2.42, or behind a flag

{"my.metric"}
 ^^^^^^^^^^^ names in quotes need Prometheus 3.0
 → for the name of a metric write __name__="my.metric"

x{"a.b"="c"}
  ^^^^^ names in quotes need Prometheus 3.0
  → rename the label when it is scraped: letters, digits and `_` are safe

sum by ("a.b") (x)
        ^^^^^ names in quotes need Prometheus 3.0
        → rename the label when it is scraped: letters, digits and `_` are safe

time() - x > 10m
             ^^^ `10m` can stand for a number only since Prometheus 2.54
             → write the seconds: `600`

x @ 10m
    ^^^ `@` expects a moment, not `10m`
    → write seconds since 1970, `start()` or `end()`

x[300]
  ^^^ a duration needs a unit, Prometheus before 2.54 takes no bare number
  → write `300s`

x offset 300
         ^^^ a duration needs a unit, Prometheus before 2.54 takes no bare number
         → write `300s`

x[5m:30]
     ^^ a duration needs a unit, Prometheus before 2.54 takes no bare number
     → write `30s`

x offset +5m
         ^ Prometheus 2.53 takes no `+` before an offset
         → leave out the sign

x[1m + 5m]
     ^ arithmetic with durations needs Prometheus 3.14
     → write one duration, like `5m`

x offset (5m)
         ^ arithmetic with durations needs Prometheus 3.14
         → write one duration, like `5m`

rate(x[5m] smoothed)
           ^^^^^^^^ `smoothed` needs Prometheus 3.7 and --enable-feature=promql-extended-range-selectors
           → leave it out

rate(x[5m] anchored)
           ^^^^^^^^ `anchored` needs Prometheus 3.7 and --enable-feature=promql-extended-range-selectors
           → leave it out

x + on (a) fill(0) y
           ^^^^ `fill()` needs Prometheus 3.10 and --enable-feature=promql-binop-fill-modifiers
           → write `or`

x fill_left(0) y
  ^^^^^^^^^ `fill_left()` needs Prometheus 3.10 and --enable-feature=promql-binop-fill-modifiers
  → write `or`

x </ 5
  ^^ the operator `</` needs Prometheus 3.11
  → it is for native histograms only

holt_winters(x[1h], 0.5, 0.5)
^^^^^^^^^^^^ `holt_winters()` was removed in Prometheus 3.0
→ write `predict_linear()`, or `avg_over_time()` over a longer range

double_exponential_smoothing(x[1h], 0.5, 0.5)
^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `double_exponential_smoothing()` exists only since Prometheus 3.0 and needs --enable-feature=promql-experimental-functions
→ write `predict_linear()`, or `avg_over_time()` over a longer range

histogram_avg(x)
^^^^^^^^^^^^^ `histogram_avg()` exists only since Prometheus 2.51
→ divide `histogram_sum()` by `histogram_count()`

limitk(5, x)
^^^^^^ `limitk()` needs --enable-feature=promql-experimental-functions
→ write `topk()`

limitk by (a) (5, x)
^^^^^^ `limitk()` needs --enable-feature=promql-experimental-functions
→ write `topk()`

sort_by_label(x, "a")
^^^^^^^^^^^^^ `sort_by_label()` needs --enable-feature=promql-experimental-functions
→ leave it out: the result of a rule has no order

first_over_time(x[5m])
^^^^^^^^^^^^^^^ `first_over_time()` exists only since Prometheus 3.7, until 3.14 behind a flag
→ write the selector with `offset`

0x1e
^^^^ Prometheus 3 takes the second digit of `0x1e` for an exponent
→ write `30`

x{a=~"(?<n>b)"}
      ^^^^^ bad regular expression: Prometheus 2.42 does not know `(?<`
      → write `(?P<n>`

# durations

x[]
 ^^ the range is empty
 → write it like `[5m]`

x[:5m]
  ^ a duration such as `5m` is expected, not `:`

x[5m offset 1m]
     ^^^^^^ `]` is expected, not `offset`
     → write `offset` behind the `]`

x[1h1h]
  ^^^^ the units of `1h1h` must go from large to small, each once
  → write `2h`

x[30m1h]
  ^^^^^ the units of `30m1h` must go from large to small, each once
  → write `1h30m`

x[5m30]
  ^^^^ the last number of `5m30` has no unit
  → a duration is written like `1h30m`

x[1.0001ms]
  ^^^^^^^^ `1.0001ms` is not a duration: the numbers in it must be whole
  → the smallest unit is the millisecond, `ms`

x[0s]
  ^^ Prometheus 2.53 refuses a duration of 0
  → write a longer one; an offset or a step of 0 can be left out

x[300y]
  ^^^^ `300y` is longer than 292 years, the longest duration

x offset 0s
         ^^ Prometheus 2.53 refuses a duration of 0
         → write a longer one; an offset or a step of 0 can be left out

x offset
        | a duration is missing after `offset`
        → write `5m`

x[5m] offset 1m offset 2m
                ^^^^^^^^^ `x[5m] offset 1m` has its `offset` already
                → leave one of them out

x offset 5m [1h]
            ^^^^ a range stands before `offset`
            → write `x[1h] offset …`

sum(x) offset 5m
       ^^^^^^^^^ `offset` belongs to a selector, a range or a subquery
       → put `offset 5m` directly behind the selector inside

sum(x)[5m]
      ^^^^ only a selector can have a range, and `sum(x)` is none
      → write a subquery, `[5m:]`

x @ start
    ^^^^^ `@` expects a moment, not `start`
    → write seconds since 1970, `start()` or `end()`

x @ "now"
    ^^^^^ `@` expects a moment, not `"now"`
    → write seconds since 1970, `start()` or `end()`

x @
  ^ a moment is missing after `@`
  → write seconds since 1970, `start()` or `end()`

x @ 1e30
    ^^^^ `@` expects a moment, not `1e30`
    → write seconds since 1970, `start()` or `end()`

x @ -y
     ^ `@` expects a moment, not `y`
     → write seconds since 1970, `start()` or `end()`

x @ Inf
    ^^^ `@` expects a moment, not `Inf`
    → write seconds since 1970, `start()` or `end()`

x @ 5 @ 6
      ^^^ `x @ 5` has its `@` already
      → leave one of them out

(x) @ 5
    ^^^ `@` belongs to a selector, a range or a subquery
    → put `@ 5` directly behind the selector inside

# numbers and strings

1e400
^^^^^ `1e400` is too large a number
→ write `Inf` for infinity

0xFFFFFFFFFFFFFFFF
^^^^^^^^^^^^^^^^^^ `0xFFFFFFFFFFFFFFFF` is too large a number
→ write `Inf` for infinity

x{a="b}
    ^^^ this string is never closed
    → close it with " in the same line

x{a='b}
    ^^^ this string is never closed
    → close it with ' in the same line

x{a=`b}
    ^^^ this string is never closed
    → close it with `

x{a="\d+"}
     ^^ `\d` is not an escape inside a quoted string
     → write two backslashes, `\\d`, or put the string between backquotes

x{a="\'"}
     ^^ `\'` is not an escape inside a quoted string
     → inside "…" write ' without the backslash

x{a="\x4"}
     ^^^ `\x4` needs 2 hexadecimal digits

x{a="\ud800"}
     ^^^^^^ `\ud800` is not a character of Unicode

x{a="\400"}
     ^^^^ `\400` is not an escape
     → write three octal digits from `\000` to `\377`, or two backslashes for a backslash

# selectors

{}
^^ this selector names no metric, and none of its matchers requires that a label has a value
→ name the metric, or require a label, like job!=""

{a=""}
^^^^^^ this selector names no metric, and none of its matchers requires that a label has a value
→ name the metric, or require a label, like job!=""

{a!="b", c=~".*"}
^^^^^^^^^^^^^^^^^ this selector names no metric, and none of its matchers requires that a label has a value
→ name the metric, or require a label, like job!=""

x{__name__="y"}
  ^^^^^^^^^^^^ the name of the metric is given twice
  → leave out `x` or the matcher

x{a:b="c"}
  ^^^ `a:b` cannot name a label
  → a label has no `:` and is not `Inf` or `NaN`

on{a="b"}
^^ `on` cannot stand here
→ it stands directly behind an operator: `x * on (…) y`

# regular expressions

x{a=~"("}
      ^ bad regular expression: `(` is never closed
      → close it, or write `[(]`

x{a=~"b)"}
       ^ bad regular expression: `)` closes nothing
       → open it with `(`, or write `[)]`

x{a=~"[b"}
      ^ bad regular expression: `[` is never closed
      → close it, or write `[[]`

x{a=~"*"}
      ^ bad regular expression: `*` has nothing to repeat
      → for any text write `.*`

x{a=~"+b"}
      ^ bad regular expression: `+` has nothing to repeat
      → to mean the character itself write `[+]`

x{a=~"b**"}
        ^ bad regular expression: `*` repeats a repetition
        → put what it repeats into `(?:…)`

x{a=~"b{2,1}"}
       ^^^^^ bad regular expression: `{2,1}` ends before it begins
       → write the smaller number first

x{a=~"b{1001}"}
       ^^^^^^ bad regular expression: `{1001}` repeats more than 1000 times

x{a=~"(b{100}){11}"}
              ^^^^ bad regular expression: `{11}` and the repetitions inside it repeat more than 1000 times together

x{a=~"(?!b)c"}
      ^^^ bad regular expression: RE2 cannot look ahead or behind
      → write a second matcher with `!~` or `=~` for the same label

x{a=~"(?x)b"}
      ^^ bad regular expression: `(?` begins nothing that RE2 knows
      → for a plain group write `(?:…)`

x{a=~`\1`}
      ^^ bad regular expression: `\1` refers back to a group, which RE2 cannot do

x{a=~`\y`}
      ^^ bad regular expression: `\y` is not an escape in RE2
      → only signs and some letters can follow a backslash

x{a=~`b\Z`}
       ^^ bad regular expression: `\Z` is not an escape in RE2
       → write `\z`

x{a=~`\x4`}
      ^^ bad regular expression: `\x` is not complete
      → write it like `\x41`

x{a=~`\Qb`}
      ^^ bad regular expression: `\Q` is never closed
      → close it with `\E`

x{a=~`b\`}
       ^ bad regular expression: nothing follows the last backslash
       → write two for the character itself

x{a=~"[[:letter:]]"}
       ^^^^^^^^^^ bad regular expression: there is no class `[:letter:]`
       → there are alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, space, upper, word, xdigit

x{a=~"[z-a]"}
       ^^^ bad regular expression: the range `z-a` ends before it begins

x{a=~"[a-\\d]"}
         ^^^ bad regular expression: `\d` is not an escape in RE2
         → only signs and some letters can follow a backslash

x{a=~"\xff"}
      ^^^^ bad regular expression: bytes that are not UTF-8 cannot be matched

x{a=~"\\(\\d+("}
             ^ bad regular expression: `(` is never closed
             → close it, or write `[(]`

# functions

rates(x[5m])
^^^^^ there is no function `rates`
→ did you mean `rate`?

RATE(x[5m])
^^^^ functions are written in lower case
→ write `rate`

frobnicate(x)
^^^^^^^^^^ there is no function `frobnicate`

rate()
^^^^^^ `rate()` takes 1 argument, not 0
→ write `rate(metric[5m])`

topk(x)
^^^^^^^ `topk()` takes 2 arguments, not 1
→ write `topk(number, metric)`

round(x, 1, 1)
^^^^^^^^^^^^^^ `round()` takes at most 2 arguments, not 3
→ write `round(metric, number)`

label_join(x, "a")
^^^^^^^^^^^^^^^^^^ `label_join()` takes at least 3 arguments, not 2
→ write `label_join(metric, "text", "text")`

time(x)
^^^^^^^ `time()` takes no arguments, not 1
→ write `time()`

# types

rate(x)
     ^ `rate()` expects a range vector, `x` is an instant vector
     → write `rate(x[5m])`

rate((x{a="b"}))
     ^^^^^^^^^^ `rate()` expects a range vector, `(x{a="b"})` is an instant vector
     → write `rate(x{a="b"}[5m])`

rate(sum(x))
     ^^^^^^ `rate()` expects a range vector, `sum(x)` is an instant vector
     → aggregate the result: `sum(rate(x[5m]))`

rate(sum by (a) (x))
     ^^^^^^^^^^^^^^ `rate()` expects a range vector, `sum by (a) (x)` is an instant vector
     → aggregate the result: `sum by (a) (rate(x[5m]))`

rate(x > 1)
     ^^^^^ `rate()` expects a range vector, `x > 1` is an instant vector
     → write a subquery: `(x > 1)[5m:]`

rate(abs(x))
     ^^^^^^ `rate()` expects a range vector, `abs(x)` is an instant vector
     → write a subquery: `abs(x)[5m:]`

rate(5)
     ^ `rate()` expects a range vector, `5` is a scalar
     → write a range: `metric[5m]`

abs(x[5m])
    ^^^^^ `abs()` expects an instant vector, `x[5m]` is a range vector
    → make one value of it: `rate(x[5m])` for a counter, `avg_over_time(x[5m])` for a gauge

sum(x[5m])
    ^^^^^ `sum()` expects an instant vector, `x[5m]` is a range vector
    → `sum()` goes over series; over time goes `sum_over_time(x[5m])`

max(x[5m])
    ^^^^^ `max()` expects an instant vector, `x[5m]` is a range vector
    → `max()` goes over series; over time goes `max_over_time(x[5m])`

sum(1)
    ^ `sum()` expects an instant vector, `1` is a scalar
    → write `vector(1)`

sum("x")
    ^^^ `sum()` expects an instant vector, `"x"` is a string
    → write a metric, without quotes

topk(x, 5)
     ^^^^ the arguments of `topk()` are in the wrong order
     → write `topk(5, x)`

topk(x, y)
     ^ `topk()` expects a scalar as argument 1, `x` is an instant vector
     → `scalar(x)` is the value of its only series

topk("5", x)
     ^^^ `topk()` expects a scalar as argument 1, `"5"` is a string
     → write a number, without quotes

topk(x[5m], y)
     ^^^^^ `topk()` expects a scalar as argument 1, `x[5m]` is a range vector
     → write a number

quantile_over_time(x[5m], 0.9)
                   ^^^^^^^^^^ the arguments of `quantile_over_time()` are in the wrong order
                   → write `quantile_over_time(0.9, x[5m])`

vector(x)
       ^ `vector()` expects a scalar, `x` is an instant vector
       → `scalar(x)` is the value of its only series

clamp(x, 1, y)
            ^ `clamp()` expects a scalar as argument 3, `y` is an instant vector
            → `scalar(y)` is the value of its only series

count_values(5, x)
             ^ `count_values()` expects a string as argument 1, `5` is a scalar
             → write a text in quotes, "…"

count_values("a b", x)
             ^^^^^ this is not the name of a label
             → a label is named with letters, digits and `_`, and does not begin with a digit

label_replace(x, "a-b", "$1", "c", "(.*)")
                 ^^^^^ this is not the name of a label
                 → a label is named with letters, digits and `_`, and does not begin with a digit

label_replace(x, "a", "$1", "c", "(.*")
                                  ^ bad regular expression: `(` is never closed
                                  → close it, or write `[(]`

label_join(x, "a", ",", "b-c")
                        ^^^^^ this is not the name of a label
                        → a label is named with letters, digits and `_`, and does not begin with a digit

-x[5m]
 ^^^^^ `-` expects an instant vector or a scalar, `x[5m]` is a range vector
 → make one value of it: `rate(x[5m])` for a counter, `avg_over_time(x[5m])` for a gauge

-"x"
 ^^^ `-` expects an instant vector or a scalar, `"x"` is a string
 → label values are compared inside braces: `metric{label="…"}`

x[5m] > 1
^^^^^ `>` expects instant vectors or scalars, `x[5m]` is a range vector
→ make one value of it: `rate(x[5m])` for a counter, `avg_over_time(x[5m])` for a gauge

x and 1
      ^ `and` expects instant vectors on both sides, `1` is a scalar
      → write `vector(1)`

1 or x
^ `or` expects instant vectors on both sides, `1` is a scalar
→ write `vector(1)`

1 > 2
  ^ two scalars can only be compared with `bool`
  → write `1 > bool 2`

1 + bool x
    ^^^^ `bool` makes a comparison return 0 or 1, and `+` compares nothing
    → leave `bool` out

x and bool y
      ^^^^ `bool` makes a comparison return 0 or 1, and `and` compares nothing
      → leave `bool` out

x * on (a) 5
    ^^^^^^ `on` matches series with series, and a scalar has none
    → leave `on (…)` out

x and on (a) group_left y
      ^^^^^^^^^^^^^^^^^ `and` matches many series with many, `group_left` changes nothing there
      → leave `group_left` out

x * on (a, b) group_left (b) y
                          ^ `b` stands in `on` and in `group_left`
                          → leave it out of `group_left`

5[1h:]
^ a subquery expects an instant vector before it, `5` is a scalar
→ write `vector(5)`

x[5m][1h:]
^^^^^ a subquery expects an instant vector before it, `x[5m]` is a range vector
→ make one value of it: `rate(x[5m])` for a counter, `avg_over_time(x[5m])` for a gauge

x[5m]
^^^^^ the result must be an instant vector or a scalar, `x[5m]` is a range vector
→ make one value of it: `rate(x[5m])` for a counter, `avg_over_time(x[5m])` for a gauge

"x"
^^^ the result must be an instant vector or a scalar, `"x"` is a string
→ label values are compared inside braces: `metric{label="…"}`
"""  # noqa: E501


def stanzas(text: str) -> list[tuple[str, int, int, str, str]]:
    """Text, start, end, message and hint of each mistake."""
    found = []
    for stanza in text.strip().split("\n\n"):
        if stanza.startswith("# "):
            continue
        wrong, marked, *hints = stanza.splitlines()
        marks = re.fullmatch(r"( *)(\^+|\|) (.*)", marked)
        assert marks, stanza
        start = len(marks[1])
        end = start + marks[2].count("^")
        found.append((wrong, start, end, marks[3], "".join(hint.strip().removeprefix("→ ") for hint in hints)))
    return found


def mistake(text: str, read: object = parse) -> PromqlError:
    with pytest.raises(PromqlError) as caught:
        read(text)  # type: ignore[operator]
    return caught.value


def facts(error: PromqlError) -> tuple[int, int, str, str]:
    return error.start, error.end, error.message, error.hint


@pytest.mark.parametrize(("text", "start", "end", "message", "hint"), stanzas(MISTAKES))
def test_mistake(text: str, start: int, end: int, message: str, hint: str) -> None:
    assert facts(mistake(text)) == (start, end, message, hint)


AVERAGE = "make one value of it: `rate(y[5m])` for a counter, `avg_over_time(y[5m])` for a gauge"


@pytest.mark.parametrize(
    ("text", "start", "end", "message", "hint"),
    [
        ("", 0, 0, "there is no expression", ""),
        (" # only a comment\n", 0, 18, "there is no expression", ""),
        ("sum(\n  -y[5m]\n)", 8, 13, "`-` expects an instant vector or a scalar, `y[5m]` is a range vector", AVERAGE),
        ("x +  # more to come\n", 3, 3, "an operand is missing after `+`", ""),
        ('x{a="b\nc"}', 4, 6, "this string is never closed", 'close it with " in the same line'),
        ("x[ # why\n5m]", 2, 9, "a comment cannot stand directly after `[`", "put the comment before the `[`"),
        ("x\u00a0> 1", 1, 2, "the invisible character U+00A0 means nothing in PromQL", "write a plain space"),
        ("\ufeffx", 0, 1, "the invisible character U+FEFF means nothing in PromQL", "remove it"),
        ("x \0", 2, 3, "the invisible character U+0000 means nothing in PromQL", "remove it"),
        ("x \ud800", 2, 3, "the invisible character U+D800 means nothing in PromQL", "remove it"),
        ("x # \ud800", 4, 5, "the invisible character U+D800 means nothing in PromQL", "remove it"),
        ('x{a="\ud800"}', 5, 6, "U+D800 cannot stand in a string", "write it as an escape"),
        ('x{a="\ufffd"}', 5, 6, "U+FFFD cannot stand in a string", "write it as an escape"),
    ],
)  # fmt: skip
def test_mistake_in_text_that_no_table_can_show(text: str, start: int, end: int, message: str, hint: str) -> None:
    assert facts(mistake(text)) == (start, end, message, hint)


def test_long_and_many_lined_sources_are_shortened_in_messages() -> None:
    error = mistake("rate(x{\n  a='b'} > " + "9" * 50 + ")")
    shortened = "x{ a='b'} > 999999999999999999999999999…"
    assert error.message == f"`rate()` expects a range vector, `{shortened}` is an instant vector"


def test_error_reads_as_one_line_and_survives_pickling() -> None:
    error = mistake("rate(x)")
    assert str(error) == "`rate()` expects a range vector, `x` is an instant vector: write `rate(x[5m])`"
    assert str(mistake("5 x")) == "an operator is missing before `x`"
    assert facts(pickle.loads(pickle.dumps(error))) == facts(error)


@pytest.mark.parametrize("name", NOT_PORTABLE)
def test_functions_that_are_not_everywhere_are_refused_with_the_reason(name: str) -> None:
    assert name not in FUNCTIONS
    assert facts(mistake(f"{name}(x)")) == (0, len(name), f"`{name}()` {NOT_PORTABLE[name][0]}", NOT_PORTABLE[name][1])


# -- what is read ------------------------------------------------------------------------------------------------------


def shape(expr: Expr) -> str:
    """The tree with parentheses around every operation, whatever the text had."""
    match expr:
        case Range():
            text = f"{expr.selector.render()}[{expr.duration.milliseconds}]{modifiers(expr)}"
        case Subquery():
            step = expr.step.milliseconds if expr.step else ""
            text = f"{shape(expr.expr)}[{expr.duration.milliseconds}:{step}]{modifiers(expr)}"
        case Call():
            text = f"{expr.function}({', '.join(map(shape, expr.args))})"
        case Aggregation():
            text = f"{expr.op}{grouping(expr)}({', '.join(map(shape, children(expr)))})"
        case Unary():
            text = f"({expr.op}{shape(expr.expr)})"
        case Binary():
            text = f"({shape(expr.left)} {expr.op}{matching(expr)} {shape(expr.right)})"
        case Paren():
            text = shape(expr.expr)
        case _:
            text = leaf(expr)
    return text


def leaf(expr: Number | String | Selector) -> str:
    if isinstance(expr, Number):
        return f"{expr.value:g}"
    return quote(expr.value) if isinstance(expr, String) else expr.render()


def modifiers(expr: Range | Subquery) -> str:
    text = f" offset {expr.offset.milliseconds}" if expr.offset else ""
    return text + (f" @ {expr.at.render()}" if expr.at else "")


def grouping(expr: Aggregation) -> str:
    if expr.grouping is None:
        return ""
    return f" {'without' if expr.grouping.without else 'by'}{[label.name for label in expr.grouping.labels]} "


def matching(expr: Binary) -> str:
    text = " bool" if expr.returns_bool else ""
    if expr.matching:
        text += f" {'on' if expr.matching.on else 'ignoring'}{[label.name for label in expr.matching.labels]}"
    if expr.matching and expr.matching.group:
        text += f" group_{expr.matching.group}{[label.name for label in expr.matching.include]}"
    return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # how tightly operators bind
        ("a + b * c", "(a + (b * c))"),
        ("a * b + c", "((a * b) + c)"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b % c atan2 d", "(((a / b) % c) atan2 d)"),
        ("a ^ b ^ c", "(a ^ (b ^ c))"),
        ("2 ^ 3 ^ 2 * 4", "((2 ^ (3 ^ 2)) * 4)"),
        ("a or b and c", "(a or (b and c))"),
        ("a and b or c", "((a and b) or c)"),
        ("a unless b and c", "((a unless b) and c)"),
        ("a and b > c", "(a and (b > c))"),
        ("a > b + c", "(a > (b + c))"),
        ("a > b < c", "((a > b) < c)"),
        ("a == bool b and c", "((a == bool b) and c)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("-a ^ b", "(-(a ^ b))"),
        ("-a * b", "((-a) * b)"),
        ("-a + b", "((-a) + b)"),
        ("a ^ -b ^ c", "(a ^ (-(b ^ c)))"),
        ("a ^ -b * c", "((a ^ (-b)) * c)"),
        ("a * -b ^ c", "(a * (-(b ^ c)))"),
        ("- -a", "(-(-a))"),
        ("+a", "(+a)"),
        ("-1", "-1"),
        ("--1", "1"),
        ("-1 ^ 2", "(-(1 ^ 2))"),
        ("-1 * 2", "(-1 * 2)"),
        ("a--1", "(a - -1)"),
        # modifiers belong to the selector before them
        ("-a offset 5m", "(-a offset 5m)"),
        ("a + b offset 5m", "(a + b offset 5m)"),
        ("a @ 5 + b", "(a @ 5 + b)"),
        ("a offset 5m @ start()", "a offset 5m @ start()"),
        ("a @ end() offset -1h30m", "a offset -1h30m @ end()"),
        ("a @ -1.5", "a @ -1.5"),
        ("rate(a[5m] offset 1m @ 9)", "rate(a[300000] offset 60000 @ 9)"),
        ("max_over_time(a[1h:])", "max_over_time(a[3600000:])"),
        ("sum_over_time(rate(a[5m])[1h:1m] offset 1s)", "sum_over_time(rate(a[300000])[3600000:60000] offset 1000)"),
        ("max_over_time(a offset 5m [1h : 30s])", "max_over_time(a offset 5m[3600000:30000])"),
        # aggregations and matching
        ("sum(a)", "sum(a)"),
        ("SUM By (a, b,) (x)", "sum by['a', 'b'] (x)"),
        ("sum(x) without ()", "sum without[] (x)"),
        ("topk(5, x) by (by)", "topk by['by'] (5, x)"),
        ("count_values without (a) ('b', x)", "count_values without['a'] (\"b\", x)"),
        ("quantile(.5, x)", "quantile(0.5, x)"),
        ("a * on (x, y) group_left (z,) b", "(a * on['x', 'y'] group_left['z'] b)"),
        ("a * IGNORING () GROUP_RIGHT b", "(a * ignoring[] group_right[] b)"),
        ("a > bool on (x) group_left () (b)", "(a > bool on['x'] group_left[] b)"),
        ("a AND on (x) b Unless c", "((a and on['x'] b) unless c)"),
        ("a * ignoring (x) group_left (x) b", "(a * ignoring['x'] group_left['x'] b)"),
        ("a > bool(b)", "(a > bool b)"),
        # words that name metrics and labels all the same
        ("by + without", "(by + without)"),
        ("sum + sum(sum)", "(sum + sum(sum))"),
        ("offset offset 5m", "offset offset 5m"),
        ("and and or or unless", "((and and or) or unless)"),
        ("start @ start()", "start @ start()"),
        ("rate + time + limitk + fill", "(((rate + time) + limitk) + fill)"),
        ('a:b:c{on="1",bool="2",inf="3"}', 'a:b:c{on="1",bool="2",inf="3"}'),
        ("sum by (on, bool, group_left, atan2) (x)", "sum by['on', 'bool', 'group_left', 'atan2'] (x)"),
        (":", ":"),
        # white space and comments
        ("\ta\r\n+# comment\rb#c", "(a + b)"),
        ("a{ # which\n x = 'y' , # why\n }", 'a{x="y"}'),
        ("rate(a[ 5m #c\n ])", "rate(a[300000])"),
        ("a>bool-b", "(a > bool (-b))"),
        ("1e3-2", "(1000 - 2)"),
        ("x-5", "(x - 5)"),
        ("x:5", "x:5"),
    ],
)
def test_tree(text: str, expected: str) -> None:
    assert shape(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0), ("1.", 1.0), (".5", 0.5), ("00.5", 0.5), ("1e3", 1000.0), ("1.E-3", 0.001), ("1e+05", 1e5),
        ("0x1F", 31.0), ("0XaB", 171.0), ("0xe1", 225.0), ("0x7FFFFFFFFFFFFFFF", 2.0**63), ("017", 15.0),
        ("0777", 511.0), ("08", 8.0), ("019", 19.0), ("0777777777777777777777777", 777777777777777777777777.0),
        ("1e-400", 0.0), ("99999999999999999999", 1e20), ("Inf", math.inf), ("-iNF", -math.inf), ("+1", 1.0),
    ],
)  # fmt: skip
def test_number(text: str, value: float) -> None:
    number = parse(text)
    assert (type(number), number.start, number.end) == (Number, 0, len(text))
    assert number.value == value


def test_nan_is_a_number() -> None:
    assert math.isnan(parse("nAn").value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a b"', "a b"), ("'a b'", "a b"), ("`a\nb`", "a\nb"), (r"`a\n`", r"a\n"), ('""', ""), ("'\"'", '"'),
        (r'"\a\b\f\n\r\t\v\\\""', '\a\b\f\n\r\t\v\\"'), (r"'\''", "'"), (r'"\x41\101"', "AA"),
        (r'"\u00e9\U0001F600"', "\u00e9\U0001f600"), (r'"\xc3\xa9"', "\u00e9"), (r'"\303\251\x00"', "\u00e9\0"),
        (r'"\xffé"', "\udcff\u00e9"), ('"\0\x01\u2028"', "\0\x01\u2028"), (r'"\ufffd"', "\ufffd"),
    ],
)  # fmt: skip
def test_string(text: str, value: str) -> None:
    (found,) = parse_selector(f"x{{a={text}}}").matchers
    assert found.value == value


@pytest.mark.parametrize(
    ("text", "length"),
    [("5ms", 5), ("0h5s", 5000), ("05m", 300_000), ("1h30m", 5_400_000), ("1y2w3d4h5m6s7ms", 33_019_506_007)],
)
def test_duration(text: str, length: int) -> None:
    (call,) = (node for node in walk(parse(f"rate(x[{text}] offset -{text})")) if isinstance(node, Range))
    assert call.duration == Duration(7, 7 + len(text), length)
    assert call.offset == Duration(16 + len(text), 17 + 2 * len(text), -length)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("1", "scalar"), ("x", "vector"), ("(1)", "scalar"), ("-x", "vector"), ("-time()", "scalar"),
        ("1 + pi()", "scalar"), ("1 > bool 2", "scalar"), ("1 + x", "vector"), ("x > 1", "vector"),
        ("sum(x)", "vector"), ("vector(1)", "vector"),
        ("scalar(x)", "scalar"), ("rate(x[5m])", "vector"), ("x and y", "vector"),
    ],
)  # fmt: skip
def test_type_of_the_result(text: str, type_: str) -> None:
    assert type_of(parse(text)) == type_


def test_type_of_arguments() -> None:
    call = parse('label_replace(rate(x[5m]) > 1, "a", "$1", "b", "(.*)")')
    assert [type_of(node) for node in walk(call)][:5] == ["vector", "vector", "vector", "matrix", "vector"]
    assert [type_of(arg) for arg in children(call)] == ["vector", "string", "string", "string", "string"]


EVERYTHING = """sum by (job) (rate(x{a="b", c!~'d|e'}[5m] offset 1m @ 7)) * on (job) group_left (team)
  -max_over_time((y offset -1h)[1d:2m])  >= bool (topk(3, time() - z))"""


def test_every_node_knows_its_place() -> None:
    written = [(type(node).__name__, EVERYTHING[node.start : node.end]) for node in walk(parse(EVERYTHING))]
    left, right = EVERYTHING.split("  >= bool ")
    sum_, rest = left.split(" * on (job) group_left (team)\n  -")
    assert written == [
        ("Binary", EVERYTHING),
        ("Binary", left),
        ("Aggregation", sum_),
        ("Call", "rate(x{a=\"b\", c!~'d|e'}[5m] offset 1m @ 7)"),
        ("Range", "x{a=\"b\", c!~'d|e'}[5m] offset 1m @ 7"),
        ("Selector", "x{a=\"b\", c!~'d|e'}"),
        ("Unary", "-" + rest),
        ("Call", rest),
        ("Subquery", "(y offset -1h)[1d:2m]"),
        ("Paren", "(y offset -1h)"),
        ("Selector", "y offset -1h"),
        ("Paren", right),
        ("Aggregation", "topk(3, time() - z)"),
        ("Number", "3"),
        ("Binary", "time() - z"),
        ("Call", "time()"),
        ("Selector", "z"),
    ]


def test_every_part_of_a_node_knows_its_place() -> None:
    whole = parse(EVERYTHING)
    product, sum_ = whole.left, whole.left.left
    range_ = sum_.expr.args[0]
    subquery = product.right.expr.args[0]
    parts = [
        *sum_.grouping.labels, sum_.grouping, *range_.selector.matchers, range_.duration, range_.offset, range_.at,
        product.matching, *product.matching.labels, *product.matching.include, subquery.duration, subquery.step,
        subquery.expr.expr.offset,
    ]  # fmt: skip
    assert [EVERYTHING[part.start : part.end] for part in parts] == [
        "job", "by (job)", 'a="b"', "c!~'d|e'", "5m", "1m", "7",
        "on (job) group_left (team)", "job", "team", "1d", "2m",
        "-1h",
    ]  # fmt: skip
    assert [EVERYTHING[m.value_start : m.value_end] for m in range_.selector.matchers] == ['"b"', "'d|e'"]
    assert [EVERYTHING[node.op_start : node.op_end] for node in (whole, product)] == [">=", "*"]
    assert (range_.at, product.matching.group) == (At(range_.at.start, range_.at.end, 7.0), "left")


def test_selectors_and_metrics_in_the_order_of_the_text() -> None:
    expr = parse('b + rate(a{x="1"}[5m]) / {__name__="c"} > b offset 5m or {__name__=~"d.*"}')
    assert [selector.render() for selector in selectors(expr)] == [
        "b",
        'a{x="1"}',
        '{__name__="c"}',
        "b offset 5m",
        '{__name__=~"d.*"}',
    ]
    assert metric_names(expr) == ("b", "a", "c")


ACCEPTED = [
    "max by (cluster, node, gpu_uuid) (DCGM_FI_DEV_GPU_TEMP) > 85",
    "floor(max by (cluster, gpu_uuid) (DCGM_FI_DEV_CLOCK_THROTTLE_REASONS) / 64) % 2 == 1",
    "increase(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[5m]) / 5 > 31",
    '(max by (node, err) (XID{err=~"79|119"}) > 0) unless on (node, err) (max by (node, err) (XID offset 5m) > 0)',
    'histogram_quantile(0.99, sum by (le) (rate(request_seconds_bucket{le=~"1(\\\\.0)?"}[5m])))',
    'label_join(up, "where", "/", "cluster", "node") unless hour() < 6',
    "count_over_time((sum(up) < 3)[1h:1m]) > 10 and vector(1)",
    'label_replace(x, ("a"), "$1", "b", ("(.*)"))',
    "x * on() 5",  # takes nothing to match, so Prometheus lets it pass
    "1 - on () group_left () 2",
    '{__name__="x",__name__=~"y.*"}',
    '{a!~".*"}',  # matches nothing, which is not the same as everything
    'x{a=~"",b!=""}',
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted(text: str) -> None:
    expr = parse(text)
    assert (expr.start, expr.end) == (0, len(text))


@pytest.mark.parametrize(
    ("pattern", "matches_empty"),
    [
        ("", True), ("a", False), ("a|", True), ("(|a)b*", True), ("a?b{0,3}", True), ("a?b", False), ("(a*)+", True),
        ("(a*){5}", True), ("(a|b){0}", True), ("a{1,}", False), ("^$", True), ("^.$", False), (r"\bx*", False),
        (r"(\b)*", True), (r"\A\B\z", True), ("[^a]*", True), ("[]a]", False),
        (r"[[:^alpha:]\]\x41-\x{10FFFF}]", False),
        (r"\Qa*\E", False), (r"\Q\E", True), (r"\Qab\E?", False), (r"\Qa\E?", True), ("(?i)", True),
        ("(?i:a*)(?s-U:b*)", True), ("(?P<n>a*)", True), ("a{,2}", False), ("{", False), ("a{01}", False),
        (r"\d*\pL*\P{Greek}*\x41*\101*\0*\_*\x{1F600}*", True), ("a(?i)*", True), ("((a|b*)c?|d)", True),
        ("x*?y*?", True), (".*é?", True),
        (r"[a-z-9]?[--a]?[a-]?[\d\pL_]?[\a-\101]?", True), ("(a{500}){2}", False), ("()", True),
    ],
)  # fmt: skip
def test_whether_a_regular_expression_lets_an_absent_label_pass(pattern: str, matches_empty: bool) -> None:
    selector = f"{{a=~{quote(pattern)}}}"
    if matches_empty:
        assert mistake(selector).message.startswith("this selector names no metric")
        assert parse_selector(f"{{a!~{quote(pattern)}}}").metric is None
    else:
        assert parse_selector(selector).matchers[0].value == pattern


# -- selectors alone ---------------------------------------------------------------------------------------------------

ONLY_A_SELECTOR = "only a selector is expected here"
LIKE_THIS = 'write the metric and its matchers, like x{a="b"}: tocsin adds rate() and sum() itself'


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("rate(x[5m])", 0, 11),
        ("sum(x)", 0, 6),
        ("x[5m]", 1, 5),
        ('x{a="b"}[5m] offset 1m', 8, 22),
        ("x offset 5m", 2, 11),
        ("x # c\n @ 5", 7, 10),
        ("(x)", 0, 3),
        ("-x", 0, 2),
        ("x > 1", 0, 5),
        (" 5 ", 1, 2),
        ("x[1h:]", 0, 6),
        ('"x"', 0, 3),
    ],
)
def test_only_a_selector(text: str, start: int, end: int) -> None:
    assert facts(mistake(text, parse_selector)) == (start, end, ONLY_A_SELECTOR, LIKE_THIS)


def test_a_broken_text_is_told_as_such_where_only_a_selector_is_expected() -> None:
    assert facts(mistake("rate(x", parse_selector)) == (4, 5, "`(` is never closed", "add the missing `)`")


def test_selector_with_its_matchers() -> None:
    selector = parse_selector(' x { a = "b" , c!="" ,d=~`e`, f!~\'g\',} # h')
    assert (selector.metric, selector.start, selector.end) == ("x", 1, 38)
    assert [(m.label, m.op, m.value) for m in selector.matchers] == [
        ("a", "=", "b"),
        ("c", "!=", ""),
        ("d", "=~", "e"),
        ("f", "!~", "g"),
    ]


# What a selector is made of, now and then with a piece that does not belong there.
WORDS = r"""x a:b le sum by inf NaN offset __name__ { } {} , = != =~ !~ "b" 'c|d' "" '.*' "[" "\n" `e` "é" [5m] ( ) 1"""
PIECES = st.sampled_from([*WORDS.split(), " ", "\t\n", '"\ufffd"', "# f", "\u00a0"])
MATCHERS = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(("a", "le", "by", "__name__", "a:b")),
    st.sampled_from(("", " ")),
    st.sampled_from(("=", "!=", "=~", "!~", "==")),
    st.sampled_from(("", "\n")),
    st.sampled_from(('"b"', "'c.*'", '""', "'('", '"d\\n"', "`e`", '"é"')),
)
WRITTEN = st.builds(
    "{}{}{{{}{}}}{}".format,
    st.sampled_from(("x", " a:b", "sum", "by", "Inf", "", "x ")),
    st.sampled_from(("", " ")),
    st.lists(MATCHERS, max_size=3).map(",".join),
    st.sampled_from(("", ",", " ", ",,")),
    st.sampled_from(("", " ", "# f", " offset 5m", "[5m]")),
)


def read(reader: Callable[[str], Expr | None], text: str) -> object:
    """What a text is read as, or all that is told about its mistake."""
    try:
        return reader(text)
    except PromqlError as error:
        return facts(error)


@settings(SAME_EVERY_TIME, max_examples=3000)
@given(st.lists(PIECES, max_size=8).map("".join) | WRITTEN)
@example('x{a="b"}')
@example("x{a='b',c!~\"d\",}")
def test_a_selector_in_its_usual_form_is_what_the_parser_reads(text: str) -> None:
    assert read(usual_selector, text) in (None, read(parse, text))


@pytest.mark.parametrize("text", ["x", "x{}", " a:b { a = \"b\" ,\tc!~'d' } ", 'x{a="",}'])
def test_the_usual_form_is_read_at_once(text: str) -> None:
    assert usual_selector(text) == parse(text)


@pytest.mark.parametrize(
    ("text", "extra", "expected"),
    [
        ("x", (), "x"),
        ("x{}", (), "x"),
        ("x", (matcher("a", "=", 'b"c'),), r'x{a="b\"c"}'),
        ("x{a='b',}", (matcher("c", "!~", "d|e"), matcher("f", "!=", "")), 'x{a="b",c!~"d|e",f!=""}'),
        ('{a!=""}', (matcher("b", "=~", "c"),), '{a!="",b=~"c"}'),
    ],
)
def test_render(text: str, extra: tuple[str, ...], expected: str) -> None:
    assert parse_selector(text).render(extra) == expected


def test_rendering_in_place_adds_matchers_to_a_whole_expression() -> None:
    text = 'rate(x[5m]) / {a!=""} offset 1h @ end() > 1'
    for selector in reversed(selectors(parse(text))):
        text = text[: selector.start] + selector.render([matcher("tenant", "=", "vision")]) + text[selector.end :]
    assert text == 'rate(x{tenant="vision"}[5m]) / {a!="",tenant="vision"} offset 1h @ end() > 1'


# -- what is written ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("", '""'), ("a b", '"a b"'), ('"', r'"\""'), ("\\", r'"\\"'), ("'`{}$", "\"'`{}$\""),
        ("\n\r\t\a\b\f\v", r'"\n\r\t\a\b\f\v"'), ("\0\x1b\x7f", r'"\x00\x1b\x7f"'), ("é😀", '"é😀"'),
        ("\u00a0\u200b\u2028", r'"\u00a0\u200b\u2028"'), ("\ufffd", r'"\ufffd"'), ("\U000e0001", r'"\U000e0001"'),
        ("\udcff", r'"\xff"'), (chr(0xD800), r'"\ufffd"'),
    ],
)  # fmt: skip
def test_quote(value: str, literal: str) -> None:
    assert quote(value) == literal


TEXTS = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from("\"'`\\\n\r\0\ufffd\u2028{}#"), max_size=20)


@SAME_EVERY_TIME
@given(TEXTS)
@example('"} or {a="')
@example("\\")
def test_any_text_is_inert_when_quoted(value: str) -> None:
    literal = quote(value)
    assert literal.isprintable()
    selector = parse_selector(f"x{{a={literal},b='c'}}")
    assert [m.value for m in selector.matchers] == [value, "c"]
    assert parse_selector(selector.render([matcher("d", "=", value)])).matchers[2].value == value


@pytest.mark.parametrize(
    ("label", "op"), [("a:b", "="), ("", "="), ("0a", "="), ('a="",b', "="), ("a\n", "="), ("a", "==")]
)
def test_matcher_refuses_what_is_no_label_or_operator(label: str, op: str) -> None:
    with pytest.raises(ValueError, match="no label matcher"):
        matcher(label, op, "x")


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("around", ["(", "sum(", "abs(", "1 + (", "sum by (a) (-(", "1 > bool (2 + (3 * 4 ^ ("])
def test_brackets_nest_up_to_the_bound(around: str) -> None:
    brackets = around.count("(") - around.count(")")
    deepest = MAX_NESTING // brackets
    assert type_of(parse(around * deepest + "x" + ")" * deepest * brackets)) == "vector"
    message = f"brackets are nested more than {MAX_NESTING} levels deep"
    assert mistake(around * (deepest + 1) + "x").message == message
    assert mistake(around * 50_000).message == message


def test_the_bracket_that_is_too_deep_is_marked() -> None:
    error = mistake("(" * MAX_NESTING + "sum(x" + ")" * (MAX_NESTING + 1))
    assert (error.start, error.end) == (MAX_NESTING + 3, MAX_NESTING + 4)


@pytest.mark.parametrize("operator", [" + ", " or ", " ^ ", " > "])
def test_chains_are_bounded_so_that_recursion_over_a_tree_is_safe(operator: str) -> None:
    chain = operator.join(["x"] * MAX_DEPTH)
    assert parse(chain) == parse(chain)
    assert hash(parse(chain)) == hash(parse(chain))
    assert repr(parse(chain)).count("Selector(") == MAX_DEPTH
    message = f"the expression is more than {MAX_DEPTH} operators and brackets deep"
    assert mistake(chain + operator + "x").message == message
    assert mistake(operator.join(["x"] * 20_000)).message == message


def test_signs_are_bounded_too() -> None:
    assert type_of(parse("-" * (MAX_DEPTH - 1) + "x")) == "vector"
    assert mistake("-" * 20_000 + "x").message == f"the expression is more than {MAX_DEPTH} operators and brackets deep"


@pytest.mark.parametrize(
    "text",
    [
        "1" * 50_000, "1" * 50_000 + "q", "1" * 50_000 + "m", "0x" + "1" * 50_000, "0" + "7" * 50_000,
        "1" * 50_000 + ".5h", '"' + "a" * 50_000, '"' + "\\" * 50_001, "#" * 50_000, "a" * 50_000, "x[" * 50_000,
        "x," * 50_000, "sum by (" + "a," * 50_000, '{a="b",' * 50_000, "x{a=~" + quote("(" * 50_000) + "}",
        "x{a=~" + quote("[[:" * 5_000) + "}", "x{a=~" + quote("a{" * 50_000) + "}",
        "x{a=~" + quote("(a*)*" * 5_000) + "}", "rate" * 50_000 + "(x)", "x{__name__=" + '"x' * 9_000,
        "sum by (a:" + "b" * 50_000,
        "x{a=~" + quote("[[:" + "\n" * 50_000 + ":]") + "}", "$" + "x" * 50_000, "x{a=~`\\\n`}", "x[" + "5m" * 9_000,
    ],
    ids=lambda text: f"{text[:10]}...{text[-1]}",
)  # fmt: skip
def test_long_texts_are_read_or_refused_with_short_messages(text: str) -> None:
    start, end, said = outcome(text)
    assert 0 <= start <= end <= len(text)
    assert len(said) <= 600
    assert said.isprintable()


WORDS = st.sampled_from(
    'x sum rate by on bool offset group_left and or unless atan2 Inf start end 5m 1h30m 0 1.5 0x1e 1_0 1.5h "a" '
    '`c` "\\x " ( ) [ ] { } , : @ + - * / % ^ == != > < >= <= = =~ !~ # \n . $ ! & “ \0 \ud800 \ufffd {a=~"( '
    'label_replace topk quantile_over_time x[5m] {__name__="x"}'.split(" ")
)


def outcome(text: str) -> tuple[int, int, str]:
    """The place of the tree, or of the mistake and what is said about it."""
    try:
        expr = parse(text)
    except PromqlError as error:
        return error.start, error.end, error.message + error.hint
    return expr.start, expr.end, ""


@SAME_EVERY_TIME
@given(st.text(max_size=60) | st.lists(WORDS, max_size=14).map(" ".join) | st.lists(WORDS, max_size=14).map("".join))
@example("\ud800")
@example('"\\')
def test_any_text_is_read_or_refused_with_a_place_inside_of_it(text: str) -> None:
    start, end, said = outcome(text)
    assert 0 <= start <= end <= len(text)
    assert said.isprintable()


def test_importing_the_package_loads_next_to_nothing() -> None:
    source = str(Path(promql.__file__).parents[2])
    program = (
        "import sys, re, typing, enum; known = {*sys.modules}; "
        f"sys.path.insert(0, {source!r}); import tocsin.promql; print(*sorted({{*sys.modules}} - known))"
    )
    run = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    loaded = {name for name in run.stdout.split() if name.split(".")[0] != "tocsin"}
    assert loaded <= {"__future__"}
