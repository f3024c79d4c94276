"""The one thing that can go wrong outside the compiler."""


class ToolError(Exception):
    """An external program is missing or does not answer; the message says what to do."""
