"""What can go wrong, in words that a person reads."""


class SoftirrError(Exception):
    """Base of every error that softirr raises on purpose; its message is one plain sentence."""


class InputError(SoftirrError, ValueError):
    """The input can't be used; the message says what is wrong and where (the command line ends with status 2)."""
