"""Secrets in a text, masked. Every text that enters a record, or that an agent is shown, goes through :func:`masked`.

What is a secret by its own form stands here: private keys, the keys of vendors, addresses of webhooks, what stands
before ``@`` in an address, and authorization headers. :mod:`testlore.evidence.credentials` finds what is one by its
name.

A vendor's form is its prefix and a long tail. The exact lengths that scanners ask for would let through a key that was
cut, or whose vendor has made it longer. It is still no promise: a password in a sentence looks like any other word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from testlore.evidence import credentials
from testlore.evidence.literals import Literals

MASK = "<masked>"

_WORD_MASK = "masked"  # outside a literal, where the text may be code and must stay code
_ROUNDS = 8

# A letter before it may be that of an escape: "\nghp_…".
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[abfnrtv]))"
_TIGHT = (  # prefixes of tails without signs, so that names such as npm_install_all are none
    r"gh[opusr]_ npm_ hf_ api_org_ [spr]k_(?:live|test|prod)_ whsec_ do[opr]_v1_ shp(?:at|ca|pa|ss|tka|ua)_ gsk_ r8_ "
    r"lin_(?:api|oauth)_ rubygems_ tfp_ pscale_(?:tkn|oauth|pw)_ dapi ntn_ glsa_ sbp_ ph[cx]_ fo1_ tvly- pul- sk- xai- "
    r"pplx- LTAI AKID NRAK- NRII- NRJS- PMAK- CFPAT- key- EAAA AGE-SECRET-KEY-1"
)
_LOOSE = (  # prefixes of tails with hyphens, underscores and points
    r"github_pat_ gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas|ffct)- GR1348941 xox[a-z]- xapp- xwfp- xoxe\. pypi- "
    r"AIza ya29\. GOCSPX- dckr_(?:pat|oat)_ sq0(?:atp|csp|idp)- sk-(?:proj|ant|or|svcacct|admin|lf)- nvapi- SG\. "
    r"hv[sbr]\. figd_ figo_ sntry[su]_ glc_ atlasv1\. ATATT3 ATCTT3 ATBB dp\.(?:pt|st|ct|sa|scim|audit)\. sb_secret_ "
    r"EZ[AT]K pat[0-9A-Za-z]{14}\. vercel_ CCIPAT_ cf[ua]t_ pcsk_ mdb_sa_sk_ bk(?:ua|aa|pat)_ ops_eyJ AKCp cmVmd"
)
_LONG_RUN = re.compile(r"[A-Za-z0-9_.:/+=~-]{16,}")  # each form has one
_FORMS = (
    re.compile(rf"{_START}(?:A3T[A-Z0-9]|A(?:BI|CC|GP|ID|IP|KI|NP|NV|RO|SI)A)[A-Z0-9]{{12,}}(?![A-Za-z0-9])"),  # AWS
    re.compile(rf"{_START}(?:{'|'.join(_TIGHT.split())})(?P<tail>[A-Za-z0-9]{{16,}})"),
    re.compile(rf"{_START}(?:{'|'.join(_LOOSE.split())})(?P<tail>[A-Za-z0-9_.=-]{{16,}})"),
    re.compile(
        rf"{_START}eyJ[A-Za-z0-9_-]{{8,2000}}\.[A-Za-z0-9_-]{{8,8000}}(?:\.[A-Za-z0-9_-]{{0,8000}}){{0,3}}"
    ),  # JWT
    re.compile(rf"{_START}(?:AC|SK)[0-9a-f]{{32}}(?![A-Za-z0-9])"),  # Twilio
    re.compile(rf"{_START}[0-9a-f]{{32}}-us[0-9]{{1,2}}\b"),  # Mailchimp
    re.compile(rf"{_START}[0-9]{{8,10}}:[A-Za-z0-9_-]{{35}}(?![A-Za-z0-9_-])"),  # a Telegram bot
    re.compile(rf"{_START}[MNO][A-Za-z0-9_-]{{23,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,}}"),  # a Discord bot
)
_TELLING = r"(?=(?:[A-Za-z/+]{0,30}[0-9]){2})(?=[A-Z0-9/+]{0,30}[a-z])(?=[a-z0-9/+]{0,30}[A-Z])"
#: Forms that count in a literal alone, for a class may have such a name.
_FORMS_OF_LITERALS = (
    # Whichever vendor's: a short word, and a long tail of digits and letters of both cases.
    re.compile(rf"{_START}[A-Za-z][A-Za-z0-9]{{1,15}}[_-](?:[A-Za-z]{{2,12}}[_-])?{_TELLING}[A-Za-z0-9]{{20,}}"),
    # AWS's, which has a length and no prefix.
    re.compile(rf"(?:(?<![A-Za-z0-9/+=])|(?<=\\[nrt])){_TELLING}[A-Za-z0-9/+]{{40}}(?![A-Za-z0-9/+=])"),
)
_WEBHOOK = re.compile(
    r"""(?ix) (?: hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)
      | discord(?:app)?\.com/api/(?:v\d{1,3}/)?webhooks | webhook\.office\.com/\w{1,20}
      | outlook\.office(?:365)?\.com/webhook | hooks\.zapier\.com/hooks/catch | maker\.ifttt\.com/trigger
      | hook\.(?:\w{1,20}\.)?make\.com | api\.telegram\.org | open\.(?:feishu|larksuite)\.c(?:n|om)/open-apis/bot
      | qyapi\.weixin\.qq\.com/cgi-bin/webhook | oapi\.dingtalk\.com/robot | chat\.googleapis\.com/v1/spaces
      | https?://[^\s/"'`]{1,200}/(?:[\w-]{1,40}/)?(?:web)?hooks? ) / (?P<tail>[^\s"'`<>\\]{8,})"""
)
_HEADER = re.compile(
    r"(?i)\b(?:bearer|basic|digest)\s{1,8}(?P<tail>(?=[a-z/+_.-]*[0-9=]|[a-z]{16})[a-z0-9+/_.=~-]{8,})"
)
_USER = re.compile(r"""(?i)(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://(?P<user>[^\s/?#"'`<>\\]{1,400})@""")
_COMMAND_USER = re.compile(r"""(?<!\S)(?:-u|--user)[\s=]{0,4}["']?(?P<user>[\w.@+-]{1,80}:[^\s"'`\\]{4,200})""")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = "-----END"
_MOST_OF_KEY = 16_000
_KEY_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\[nr])*")
_FILLED_IN = re.compile(r"\$?\{[^{}]*\}|%s|[:@/-]")
_LEAST_TOKEN = 12  # of characters, for a user without a password to be one


def masked(text: str) -> str:
    """``text`` with its secrets masked; what is masked once does not change again.

    Code stays code: in a string literal the mask is ``<masked>`` and the literal stays one, and elsewhere it is the
    name ``masked``. :mod:`testlore.evidence.credentials` says what counts as a secret, and what does not.
    """
    for _ in range(_ROUNDS):  # a mask may bring a second secret to light, such as the next word of a line
        again = _once(text)
        if again == text:
            break
        text = again
    return text


def _once(text: str) -> str:
    literals = Literals(text)
    spans = [*_private_keys(text, literals), *_by_form(text, literals), *credentials.find(text, literals)]
    return _without(text, literals, spans)


def _by_form(text: str, literals: Literals) -> Iterator[tuple[int, int]]:
    for run in _LONG_RUN.finditer(text):
        end = run.end() + 2  # the forms look at what follows
        for form in _FORMS:
            for match in form.finditer(text, run.start(), end):
                if "tail" not in form.groupindex or _is_random(match["tail"]):
                    yield match.span()
        for form in _FORMS_OF_LITERALS if literals.around(run.start()) else ():
            yield from (match.span() for match in form.finditer(text, run.start(), end))
    yield from (match.span("tail") for match in _WEBHOOK.finditer(text) if _is_random(match["tail"]))
    yield from (match.span("tail") for match in _HEADER.finditer(text))
    for form in (_USER, _COMMAND_USER):
        for match in form.finditer(text):
            user = match["user"]
            if _FILLED_IN.sub("", user) and (":" in user or (len(user) >= _LEAST_TOKEN and _is_random(user))):
                yield match.span("user")


def _is_random(tail: str) -> bool:
    """Whether it has digits, capitals among small letters, or no sign for long, as no name of code does."""
    return (
        any(map(str.isdigit, tail))
        or re.search(r"[a-z][A-Z]", tail) is not None
        or re.search(r"[A-Za-z]{16}", tail) is not None
    )


def _private_keys(text: str, literals: Literals) -> Iterator[tuple[int, int]]:
    """What stands between the two lines of a key; without the second one, what looks like its body."""
    done = 0
    for begin in _PRIVATE_KEY.finditer(text):
        if begin.start() < done:
            continue
        end = text.find(_KEY_END, begin.end(), begin.end() + _MOST_OF_KEY)
        if end < 0:
            literal = literals.around(begin.end())
            body = _KEY_BODY.match(text, begin.end())
            end = literal.end if literal else body.end() if body else begin.end()
        done = end
        yield begin.end(), end


def _without(text: str, literals: Literals, spans: Iterable[tuple[int, int]]) -> str:
    """``text`` with a mask in the place of each span. A span over several literals masks a part of each."""
    pieces: list[tuple[int, int, str]] = []
    for start, end in spans:
        touched = literals.within(start, end)
        for literal in touched:
            first, last = max(start, literal.start), min(end, literal.end)
            first, last = _whole(text, *literals.widened(literal, first, last), literal.end)
            pieces += [(first, last, MASK)] if first < last else []
        if not touched and text[start:end].strip():
            pieces.append((start, end, _WORD_MASK))
    parts, done = [], -1
    for start, end, mask in sorted(pieces):
        if start > done:
            parts += [text[max(0, done) : start], mask]
        done = max(done, end)
    return "".join([*parts, text[max(0, done) :]])


def _whole(text: str, start: int, end: int, limit: int) -> tuple[int, int]:
    """The span without half an escape sequence at either end."""
    if _odd_backslashes(text, start):
        start += 1
    if _odd_backslashes(text, end) and end < limit:
        end += 1
    return start, end


def _odd_backslashes(text: str, place: int) -> bool:
    count = 0
    while place > count and text[place - 1 - count] == "\\":
        count += 1
    return count % 2 == 1
