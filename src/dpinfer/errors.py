"""The one error that is the user's to mend."""


class InputError(ValueError):
    """Something the user gave (config, data, argument) is wrong.

    The message is one sentence that names what is wrong, where it stands and what is allowed.
    The command line prints it without a traceback and exits with 2.
    """
