"""shim"""

from testlore.errors import Unusable

FORMATS = ("table", "json", "prompt")


def check(form):
    if form not in FORMATS:
        raise Unusable("call-invalid", f"format is {form!r}; allowed: {', '.join(FORMATS)}")
