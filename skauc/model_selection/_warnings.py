"""The one class of warnings about numbers, so that they can be filtered."""


class UntrustedAUCWarning(UserWarning):
    """An AUC was computed as asked, but should not be trusted or compared as it is.

    Parameters
    ----------
    message : str
        Why, in one sentence.

    Examples
    --------
    >>> import warnings
    >>> from skauc import UntrustedAUCWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", UntrustedAUCWarning)  # stop instead
    """

    def __init__(self, message):
        super().__init__(message)
