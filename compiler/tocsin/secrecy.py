"""What a secret looks like: no key of the spec holds one, and no report shows one."""

from __future__ import annotations

import re

_KEY = re.compile(
    r".*(?:secret|token|passw(?:or)?d|passphrase|(?:api|access|routing|service|integration)_?key"
    r"|credentials?|(?:api|webhook)_?url)",
    re.IGNORECASE,
)
# Addresses, Slack's tokens, and words too long and too even for the name of a file.
_VALUE = re.compile(r"[A-Za-z]+://.*|xox[a-z]-.*|[A-Za-z0-9]{32,}|[A-Za-z0-9+_-]{40,}|[A-Za-z0-9+/]{60,}={0,2}")
_WORD = re.compile(
    r"xox[a-z]-[\w-]+|https?://hooks\.slack\.com/[^\s\"']+|https?://[^\s\"'/@]+@[^\s\"']*|\b[0-9a-f]{32,}\b"
)
_CREDENTIALS = re.compile(r"[^/]*//[^/]*@|[^/@]*:[^/@]*@")
# From the start of a word, and without going back: a line may be one word of a million characters.
_KEY_OF_ENTRY = re.compile(r"(?<![\w-])([\w-]++)[\"']?\s*+:\s++(?=\S)")


def names_secret(key: str) -> bool:
    """Whether a key would hold a secret; one that ends in `_file` names the file of one."""
    return _KEY.fullmatch(key) is not None


def is_secret(value: str) -> bool:
    """Whether the value of a `_file` key is the secret itself rather than a path."""
    return _VALUE.fullmatch(value) is not None


def is_secret_link(link: str) -> bool:
    """Whether a link carries a user, a password or a token, or posts for whoever knows it."""
    if _CREDENTIALS.match(link) or _WORD.match(link):
        return True
    return any(names_secret(part.partition("=")[0]) for part in link.partition("?")[2].split("&"))


def hidden(line: str) -> str:
    """A line of a spec with stars over what may be a secret, so that a log of it is no leak."""
    shown = _WORD.sub(lambda found: stars(found[0]), line)
    for key in _KEY_OF_ENTRY.finditer(shown):
        if names_secret(key[1]):
            return shown[: key.end()] + stars(shown[key.end() :])
    return shown


def stars(text: str) -> str:
    """A star for every character but white space."""
    return re.sub(r"\S", "*", text)
