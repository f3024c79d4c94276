"""What is wrong with a PromQL text, and where."""

Release = tuple[int, ...]
Taken = tuple[Release, Release] | None  # by the releases from the first one on, before the second
_LONGEST = 300


def since(*release: int) -> Taken:
    """From a release on."""
    return release, (1000,)


class PromqlError(Exception):
    """The first mistake in a PromQL text.

    `message` is one sentence that says what is wrong, `hint` how to fix it, or empty; both are one printable line of at
    most 300 characters, whatever the text holds. The mistake is in the characters [start, end) of the text; where
    something is missing after the last word, start == end == the end of that word.

    `taken` are the releases of Prometheus that take what is refused, perhaps by a feature flag; None where none does.
    """

    def __init__(self, message: str, start: int, end: int, hint: str = "", taken: Taken = None) -> None:
        super().__init__(message, start, end, hint)
        self.message = _line(message)
        self.start = start
        self.end = end
        self.hint = _line(hint)
        self.taken = taken

    def is_taken(self, release: Release) -> bool:
        """Whether a release of Prometheus takes what is refused."""
        return self.taken is not None and self.taken[0] <= release < self.taken[1]

    def __str__(self) -> str:
        """Message and hint in one line."""
        return f"{self.message}: {self.hint}" if self.hint else self.message


def _line(text: str) -> str:
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    return text if text.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in text)
