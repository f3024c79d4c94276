"""The one thing that can go wrong at the door."""


class WrongCallError(Exception):
    """The call cannot be carried out as it stands; the message says why."""
