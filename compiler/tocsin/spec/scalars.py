"""The words and numbers of the language: names, durations, shares, versions, secret files, links."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict
from pydantic_core import PydanticCustomError, core_schema

from tocsin import hours, units
from tocsin.diagnostics import near
from tocsin.secrecy import is_secret, is_secret_link

if TYPE_CHECKING:
    from collections.abc import Callable


class Section(BaseModel):
    """A mapping of the spec: every key known, every value of its written type, nothing changed later."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True, arbitrary_types_allowed=True)


class Read:
    """How a scalar is read: the annotation of a type whose values the function makes, or refuses.

    pydantic's own validators judge the function and the type by themselves in each of two hundred fields.
    """

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def __get_pydantic_core_schema__(self, _type: object, _handler: object) -> core_schema.CoreSchema:
        """Whatever the function gives."""
        return core_schema.no_info_plain_validator_function(self._read)


def refuse(code: str, message: str, hint: str) -> PydanticCustomError:
    """An error that carries its code and hint through pydantic to the log."""
    # Braces in what people wrote must not be read as pydantic's own placeholders.
    return PydanticCustomError("tocsin", "{said}", {"said": message, "code": code, "hint": hint})


def _text(value: Any, wanted: str) -> str:
    if isinstance(value, str):
        return value
    hints = {
        type(None): "write it behind the colon",
        list: "write one, without brackets",
        dict: "write one, without braces",
    }
    hint = hints.get(type(value), "write it in quotes")
    raise refuse("SPC102", f"expected {wanted}, found {kind(value)}", hint)


def kind(value: Any) -> str:
    """How a value of the spec is called in a message."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"the truth value {str(value).lower()}"
        case int() | Decimal():
            return f"the number {value}"
        case str():
            return f"the text '{value if len(value) <= 40 else value[:37] + '...'}'"
        case list():
            return "a list"
        case _:
            return "a mapping"


def word(pattern: str, code: str, wanted: str, rules: str, joint: str = "") -> Callable[[Any], str]:
    """A reader of words; `joint` is what a refused word is joined with where the hint offers a lawful one."""
    lawful_word = partial(re.fullmatch, pattern)  # compiled where a spec has such a word, and no earlier

    def read(value: Any) -> str:
        if isinstance(value, int | Decimal) and not lawful_word(str(value).lower()):
            raise refuse("SPC102", f"expected {wanted}, found {kind(value)}", f"{wanted} has {rules}")
        text = _text(value, wanted)
        if not lawful_word(text):
            lawful = joint and re.sub("[^a-z0-9]+", joint, text.lower()).strip(joint)
            offer = f"; `{lawful}` would do" if lawful and lawful_word(lawful) else ""
            raise refuse(code, f"{kind(text)} is not {wanted}", f"{wanted} has {rules}{offer}")
        return text

    return read


def _texts(value: Any) -> tuple[str, ...]:
    """One text or a list of texts, as a tuple."""
    items = value if isinstance(value, list) else [value]
    if not items:
        raise refuse("SPC108", "this list is empty", "name at least one")
    return tuple(_text(item, "text or a list of texts") for item in items)


def _unit(
    parse: Callable[[str], Any], wanted: str, hint: str, *, zero: bool = False, limits: tuple[str, str] | None = None
) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        text = str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else _text(value, wanted)
        try:
            found = parse(text)
        except ValueError:
            raise refuse("SPC104", f"{kind(value)} is not {wanted}", hint) from None
        if not found and not zero:
            raise refuse("SPC109", f"{wanted} must be more than nothing, found {kind(value)}", hint)
        if limits and not parse(limits[0]) <= found <= parse(limits[1]):
            raise refuse("SPC109", f"{wanted} must lie between {limits[0]} and {limits[1]}, found {kind(value)}", hint)
        return found

    return read


def _duration(least: str, most: str) -> Callable[[Any], Any]:
    return _unit(units.Duration.parse, "a duration", "write it as 15s, 1h30m or 28d", limits=(least, most))


def _version(value: Any) -> str:
    text = str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else _text(value, "a version")
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,4}){0,2}", text):
        raise refuse("TGT101", f"{kind(text)} is not a version", 'write it as "3.5" or "4.8.2"')
    return text


def _secret_file(reader: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = _text(value, "the path of a file that holds the secret")
        hint = f"put the secret into a file that only {reader} reads, and name that file here"
        if is_secret(text):
            raise refuse("SEC102", "this looks like the secret itself, not like the path of a file", hint)
        if not re.fullmatch(r"/?[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*", text) or ".." in text.split("/"):
            # What stands there may be a secret all the same: it is not repeated.
            hint = "a path has letters, digits, `.`, `_`, `-` and `/`, and no `..`"
            raise refuse("SEC103", "this is not the path of a file", hint)
        return text

    return read


def _url(value: Any) -> str:
    text = _text(value, "a link")
    if is_secret_link(text):
        raise refuse("SEC104", "this link carries a secret", "keep credentials in a file, not in a link")
    try:
        parts = urlsplit(text)
        host = parts.hostname if parts.port != 0 else None
    except ValueError:
        parts, host = None, None
    # Go, which reads it later, refuses a broken escape and a host that is no name.
    lawful = re.fullmatch(r"https?://(?:[!#$&-;=?-Z_a-z~]|%[0-9A-Fa-f]{2})+", text)
    if not lawful or not host or not re.fullmatch(r"[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?", host):
        raise refuse("SPC105", f"{kind(text)} is not a link", "write it whole, as in https://runbooks.example.com/gpu/")
    return text


def _address(value: Any) -> str:
    text = _text(value, "an address")
    found = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9.-]{0,252}):([0-9]{1,5})", text)
    if not found or not 0 < int(found[2]) < 65536:
        raise refuse(
            "SPC105", f"{kind(text)} is not an address", "write host and port (1 to 65535), as in alertmanager-1:9093"
        )
    return text


def _windows(value: Any) -> tuple[str, ...]:
    """One window of time or a list of them, as they are written."""
    texts = _texts(value)
    for text in texts:
        try:
            windows = hours.parse(text)
        except ValueError as error:
            hint = "write days, times and a zone, as in `Mon-Fri 08:00-18:00 Europe/Berlin`"
            raise refuse("TIM101", f"{kind(text)} is not a window of time: {error}", hint) from None
        zone = windows[0].zone
        if not hours.is_zone(zone):
            close = near(zone, hours.zones())
            hint = f"did you mean `{close}`?" if close else "name one of the IANA database, as in Europe/Berlin, or UTC"
            raise refuse("TIM102", f"there is no time zone '{zone}'", hint)
    return texts


def _measure(value: Any) -> str:
    """A number, a share or a duration, as it is written: which of them is wanted depends on its key."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return str(value)
    return _text(value, "a number, a share or a duration")


_NAME = r"(?!.{41})[a-z](?:-?[a-z0-9])*"

Name = Annotated[
    str,
    Read(word(_NAME, "SPC103", "a name", "lower-case letters, digits and single hyphens, a letter first", "-")),
]
SignalId = Annotated[
    str,
    Read(word(r"[a-z][a-z0-9_]{0,62}", "SPC103", "a signal's name", "lower-case letters, digits and `_`", "_")),
]
MetricName = Annotated[
    str,
    Read(
        word(
            r"[a-zA-Z_:][a-zA-Z0-9_:]{0,199}", "SIG104", "a metric name", "letters, digits, `_` and `:`, no digit first"
        )
    ),
]
LabelName = Annotated[
    str,
    Read(
        word(
            r"(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,99}",
            "LBL101",
            "a label name",
            "letters, digits and `_`, no digit and no `__` first",
            "_",
        )
    ),
]
Channel = Annotated[
    str,
    Read(word(r"[#@]?[\w.-]{1,80}", "SPC103", "a Slack channel", "letters, digits, `.`, `_` and `-` behind its `#`")),
]
Region = Annotated[
    str,
    Read(word(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62})", "SPC103", "a region", "letters, digits, `.`, `_` and `-`")),
]
_PART = "[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_namespace = word(
    r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?",
    "SPC103",
    "a namespace of Kubernetes",
    "lower-case letters, digits and inner hyphens",
    "-",
)
Namespaces = Annotated[tuple[str, ...], Read(lambda value: tuple(_namespace(text) for text in _texts(value)))]
PodLabel = Annotated[
    str,
    Read(
        word(
            rf"(?:[a-z0-9](?:[a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_PART}",
            "SPC103",
            "the key of a pod's label",
            "letters, digits, `.`, `_` and `-`, with a domain and `/` before them where it has one",
        )
    ),
]
PodLabelValue = Annotated[
    str,
    Read(word(_PART, "SPC103", "the value of a pod's label", "letters, digits and inner `.`, `_` and `-`")),
]
ServiceName = Annotated[
    str,
    Read(
        word(
            r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?",
            "SPC103",
            "a name in Consul",
            "letters, digits and inner `.`, `_` and `-`",
        )
    ),
]
DomainName = Annotated[
    str,
    Read(
        word(
            r"(?!.{254})[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*",
            "SPC103",
            "a name in the DNS",
            "letters, digits, `-` and `_` in parts that `.` separates, and no `.` at the end",
        )
    ),
]
Texts = Annotated[tuple[str, ...], Read(_texts)]
Text = Annotated[str, Read(lambda value: _text(value, "text"))]
Duration = Annotated[units.Duration, Read(_duration("1ms", "1y"))]
Keep = Annotated[units.Duration, Read(_duration("2h", "10y"))]
Grace = Annotated[units.Duration, Read(_duration("1s", "6h"))]
# Every rule looks back five minutes and needs two samples there.
Interval = Annotated[units.Duration, Read(_duration("100ms", "2m"))]
Pace = Annotated[units.Duration, Read(_duration("10s", "1d"))]
Percent = Annotated[
    Fraction,
    Read(_unit(units.parse_percent, "a percentage", "write it with its sign, as in 99.5%", zero=True)),
]
Rate = Annotated[Fraction, Read(_unit(units.parse_rate, "a rate", "write it as 20/s or 1200/min"))]
Amount = Annotated[Fraction, Read(_unit(units.parse_amount, "an amount", "write it as 50, 200k or 5M", zero=True))]
Bound = Annotated[
    Fraction,
    Read(
        _unit(
            units.parse_amount,
            "the bound of a bucket",
            "write it in the metric's unit, as in 0.5; +Inf is always there and left out",
        )
    ),
]
BitRate = Annotated[
    Fraction,
    Read(
        _unit(units.parse_bit_rate, "a link speed", "write it as 400Gb/s", limits=("100Mb/s", "100Tb/s")),
    ),
]
_mail = word(
    r"(?!.{255})[A-Za-z0-9._%+-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?",
    "SPC103",
    "a mail address",
    "letters, digits, `.`, `_`, `%`, `+` and `-` around its `@`",
)
Mail = Annotated[str, Read(_mail)]
Mails = Annotated[tuple[str, ...], Read(lambda value: tuple(_mail(text) for text in _texts(value)))]
ProjectKey = Annotated[
    str, Read(word(r"[A-Z][A-Z0-9_]{0,99}", "SPC103", "a project's key", "upper-case letters and digits"))
]
Said = Annotated[
    str,
    Read(
        word(
            r"[A-Za-z0-9](?:[A-Za-z0-9 @._+-]{0,98}[A-Za-z0-9])?",
            "SPC103",
            "a name that another program knows",
            "letters, digits, and inner spaces, `@`, `.`, `_`, `+` and `-`",
        )
    ),
]
Windows = Annotated[tuple[str, ...], Read(_windows)]
Patience = Annotated[units.Duration, Read(_duration("5m", "1d"))]
Measure = Annotated[str, Read(_measure)]
Version = Annotated[str, Read(_version)]
SecretFile = Annotated[str, Read(_secret_file("Alertmanager"))]
ScrapeFile = Annotated[str, Read(_secret_file("Prometheus"))]
Url = Annotated[str, Read(_url)]
Address = Annotated[str, Read(_address)]
