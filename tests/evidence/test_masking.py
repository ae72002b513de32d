"""Secrets never survive masking, code stays code, and ordinary tests lose nothing."""

from __future__ import annotations

import ast
import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from testlore.evidence.masking import masked

LETTERS = "ABCDEFGHJKLMNPRSTUVXYZ"
SECRETS = st.builds(
    lambda start, middle, end: start + middle + end,
    st.from_regex(r"[A-Z][0-9][A-Z][0-9]", fullmatch=True),
    st.text(LETTERS + "0123456789-_.!@#%^*+~?", max_size=12),
    st.from_regex(r"[A-Z0-9]{4}", fullmatch=True),
)
NAMES = st.sampled_from(
    "password passwd DB_PASSWORD user.password pwd secret clientSecret api_key X-Api-Key aws_secret_access_key token"
    " access_token GITHUB_TOKEN passphrase credential".split()
)
NOISE = st.text("\"'`\\#{}()[]/:=,;$%<>|@- \n\tab1é", max_size=12)

#: A secret beside its name, in code. NAME and SECRET are replaced.
IN_CODE = (
    'NAME = "SECRET"',
    "NAME='SECRET'",
    'NAME: str = "SECRET"',
    'NAME = b"SECRET"',
    'NAME = """SECRET"""',
    'NAME = (\n    "SECRET"\n)',
    'f(1, NAME="SECRET")',
    "{ NAME: 'SECRET' }",
    '{"NAME": "SECRET", "b": 1}',
    'os.environ["NAME"] = "SECRET"',
    "monkeypatch.setenv('NAME', 'SECRET')",
    'assert user.NAME == "SECRET"',
    'expect(user.NAME).toBe("SECRET")',
    'page.fill("#NAME", "SECRET")',
    'run(["--NAME", "SECRET"])',
    'run("--NAME=SECRET")',
    'run("tool --NAME SECRET --verbose")',
    'connect("host=db NAME=SECRET port=5432")',
    "connect('Server=db;NAME=SECRET;Timeout=5')",
    'get("https://a.example/b?NAME=SECRET&page=2")',
    'get(f"https://{host}/b?NAME=SECRET")',
    '"NAME: SECRET"',
    '"""\n[db]\nNAME = SECRET\n"""',
    '"x\\nNAME=SECRET\\ny"',
    '"<NAME>SECRET</NAME>"',
    'url = "host=db NAME=" + "SECRET"',
    "fetch(`/a?NAME=SECRET`)",
)


def placed(form: str, name: str, secret: str) -> str:
    return form.replace("NAME", name).replace("SECRET", secret)


@given(st.sampled_from(IN_CODE), NAMES, SECRETS, NOISE, NOISE)
@example("fetch(`/a?NAME=SECRET`)", "token", "A1B2C3D4E5", "`", "`")
@example('NAME = "SECRET"', "password", "A1B2C3D4", "# don't", "'''")
def test_no_secret_survives_whatever_surrounds_it(form: str, name: str, secret: str, before: str, after: str) -> None:
    text = f"{before}\n{placed(form, name, secret)}\n{after}"
    found = masked(text)
    assert secret not in found
    assert masked(found) == found


@given(NAMES, SECRETS, st.integers(0, 4))
def test_no_secret_survives_in_json_whatever_its_depth(name: str, secret: str, depth: int) -> None:
    text = json.dumps({"a": 'b "c"', name: secret, "d": ["e"]})
    for _ in range(depth):
        text = json.dumps(text)
    found = masked(f"x = {text}")
    assert secret not in found
    value = ast.literal_eval(found.removeprefix("x = "))
    for _ in range(depth):
        value = json.loads(value)
    assert value == {"a": 'b "c"', name: "<masked>", "d": ["e"]}


@given(NAMES, SECRETS, st.integers(4, 6), st.sampled_from(['"', "'"]), st.sampled_from([" ", "\n    ", " + ", " \\\n"]))
def test_no_part_of_a_secret_survives_in_joined_literals(name: str, secret: str, at: int, quote: str, gap: str) -> None:
    one, other = secret[:at], secret[at:]
    for code in (f"{name} = ({quote}{one}{quote}{gap}{quote}{other}{quote})", f'("{name}={one}"{gap}"{other} b")'):
        found = masked(code)
        assert one not in found
        assert other not in found


@given(st.sampled_from(IN_CODE), NAMES, SECRETS, st.integers(0, 3))
def test_python_stays_python(form: str, name: str, secret: str, quotes: int) -> None:
    code = placed(form, name, secret)
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return
    ast.parse(masked(code))


@given(st.text(max_size=200) | st.text("tokensecrpaw=:,'\"\\`{}$\n -f", max_size=200))
def test_any_text_can_be_masked_and_a_second_time_changes_nothing(text: str) -> None:
    found = masked(text)
    assert masked(found) == found


ALNUM = "a1B2c3D4e5F6g7H8j9K0L1m2N3p4Q5r6S7t8U9v0W1x2Y3z4A5b6C7d8E9f0G1h2"
HEX = "0123456789abcdef" * 4

#: A secret that has a form of its own, by kind: what is written, and the part that must not survive.
KINDS = {
    "aws key": ("AKIA2B3C4D5E6F7G8H9I", "2B3C4D5E6F7G8H9I"),
    "aws secret": (f"{ALNUM[:20]}/{ALNUM[21:39]}+", ALNUM[21:39]),
    "github": (f"ghp_{ALNUM[:36]}", ALNUM[:36]),
    "github, fine-grained": (f"github_pat_{ALNUM[:22]}_{ALNUM[:59]}", ALNUM[:22]),
    "gitlab": (f"glpat-{ALNUM[:20]}", ALNUM[:20]),
    "google": (f"AIza{ALNUM[:35]}", ALNUM[:35]),
    "google client": (f"GOCSPX-{ALNUM[:28]}", ALNUM[:28]),
    "stripe": (f"sk_live_{ALNUM[:24]}", ALNUM[:24]),
    "stripe webhook": (f"whsec_{ALNUM[:32]}", ALNUM[:32]),
    "npm": (f"npm_{ALNUM[:36]}", ALNUM[:36]),
    "pypi": (f"pypi-AgEIcHlwaS5vcmc{ALNUM}", ALNUM),
    "openai": (f"sk-proj-{ALNUM[:48]}", ALNUM[:48]),
    "anthropic": (f"sk-ant-api03-{ALNUM}", ALNUM),
    "hugging face": ("hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH", "LmNoPqRsTuVwXyZ"),
    "slack": (f"xoxb-123456789012-123456789012-{ALNUM[:24]}", ALNUM[:24]),
    "slack webhook": (f"https://hooks.slack.com/services/T0123ABC/B0123ABC/{ALNUM[:24]}", ALNUM[:24]),
    "discord webhook": (f"https://discord.com/api/webhooks/123456789012345678/{ALNUM}", ALNUM),
    "discord bot": (f"M{ALNUM[:23]}.{ALNUM[:6]}.{ALNUM[:27]}", ALNUM[:23]),
    "teams webhook": (
        f"https://acme.webhook.office.com/webhookb2/{HEX[:8]}@{HEX[:8]}/IncomingWebhook/{HEX[:32]}",
        HEX[:32],
    ),
    "a webhook of one's own": (f"https://chat.example.org/hooks/{ALNUM[:26]}", ALNUM[:26]),
    "telegram": (f"1234567890:AA{ALNUM[:33]}", ALNUM[:33]),
    "sendgrid": (f"SG.{ALNUM[:22]}.{ALNUM[:43]}", ALNUM[:22]),
    "twilio": (f"SK{HEX[:32]}", HEX[:32]),
    "mailchimp": (f"{HEX[:32]}-us12", HEX[:32]),
    "azure": (f"AccountName=a;AccountKey={ALNUM}{ALNUM[:22]}==;EndpointSuffix=b", ALNUM[:40]),
    "vault": (f"hvs.{ALNUM[:24]}", ALNUM[:24]),
    "json web token": (f"eyJhbGciOiJIUzI1NiJ9.eyJ{ALNUM}.{ALNUM[:43]}", ALNUM[:43]),
    "any vendor": (f"acme_live_{ALNUM[:32]}", ALNUM[:32]),
    "user of an address": ("postgres://admin:p@ss5w0rd@db:5432/x", "ss5w0rd"),
    "token of an address": (f"https://{HEX[:40]}@git.example.org/x.git", HEX[:40]),
    "user of curl": ("curl -u admin:Tr0ub4dor9x https://a.example", "Tr0ub4dor9x"),
    "bearer": (f"Authorization: Bearer {ALNUM[:16]}", ALNUM[:16]),
    "basic": ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
    "private key": (
        f"-----BEGIN RSA PRIVATE KEY-----\\n{ALNUM}\\n{ALNUM[:20]}\\n-----END RSA PRIVATE KEY-----",
        ALNUM[:20],
    ),
    "private key, cut": (f"-----BEGIN OPENSSH PRIVATE KEY-----\\n{ALNUM}", ALNUM),
}


@pytest.mark.parametrize("around", ['x = "{}"', "f('{}')", '"a\\n{}\\nb"', 'f"{{x}} {}"', "`{}`"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_of_a_known_form_does_not_survive(kind: str, around: str) -> None:
    written, secret = KINDS[kind]
    code = around.replace("{}", written).replace("{{x}}", "{x}")
    found = masked(code)
    assert secret not in found
    assert "<masked>" in found
    if "`" not in code:
        ast.parse(found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_in_a_sentence_does_not_survive(kind: str) -> None:
    written, secret = KINDS[kind]
    if kind not in ("aws secret", "any vendor", "basic"):  # which look like words there
        assert secret not in masked(f"It's said that {written} works")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ('os.environ["DB_PASSWORD"] = "Tr0ub4dor9x"', 'os.environ["DB_PASSWORD"] = "<masked>"'),
        ('connect("host=db password=swordfish")', 'connect("host=db password=<masked>")'),
        ('h = {"Authorization": "Bearer abcdef0123456789"}', 'h = {"Authorization": "Bearer <masked>"}'),
        ('auth=("user", "Tr0ub4dor9x")', 'auth=("user", "<masked>")'),
        ('user, password = "wile", "coyote"', 'user, password = "<masked>", "<masked>"'),
        ("\"ALTER USER x WITH PASSWORD 'Tr0ub4dor9x'\"", "\"ALTER USER x WITH PASSWORD '<masked>'\""),
        ('f"{login(password=Tr0ub4dor9x)}"', 'f"<masked>"'),
        ("`${login({ password: 'swordfish' })}`", "`<masked>`"),
        ("login(password=Tr0ub4dor9x)", "login(password=masked)"),
        ("login with password=hunter2 works", "login with password=masked works"),
        ('parametrize("password", ["Tr0ub4dor9x", "short"])', 'parametrize("password", ["<masked>", "short"])'),
    ],
)
def test_the_mask_takes_the_place_of_the_secret_alone(written: str, found: str) -> None:
    assert masked(written) == found


@pytest.mark.parametrize(
    "code",
    [
        'password=""',
        "password=None",
        "token = make_token()",
        "token = tokens[0]",
        "password=user1.password",
        "password=new_password2",
        "f(secret=secret)",
        "password: str",
        'assert user.password == "x"',
        'assert token == "identifier"',
        'assert form.errors["password"] == "is too short"',
        'errors == {"password": "This field is required."}',
        '["username", "password", "email"]',
        'f"password={password} of {user}"',
        '"password=%s" % given',
        '"--token=${TOKEN}"',
        'tokenize("abc123def")',
        'tokens == ["ab1", "+", "cd2"]',
        'Token(type="NUMBER", value="12")',
        "def test_npm_install_all_the_packages(): pass",
        "class Test_Utf8StringDecoder4WithOneMore: pass",
        '"https://example.org/a/b?page=2"',
        '"ssh://git@example.org/a.git"',
        'f"postgres://{user}:{password}@{host}/x"',
        '"basic authentication works"',
        f'assert digest == "{HEX}"',
        'key = "name"',
        "sorted(names, key=lambda one: one.id)",
    ],
)
def test_ordinary_code_loses_nothing(code: str) -> None:
    assert masked(code) == code


RUNS = {
    "letters": "a",
    "base64": "QUJD",
    "spaces": " ",
    "lines": "\n",
    "backslashes": "\\",
    "quotes": '"',
    "escaped quotes": '\\"',
    "escaped backticks": "\\`",
    "braces": "{",
    "names": "password",
    "values": "password=",
    "quoted values": 'password="',
    "options": "--token ",
    "colons": "token:",
    "commas": "password,",
    "attributes": "token=a_b.",
    "underscores": "token=____",
    "schemes": "a://",
    "signs": "@",
    "web tokens": "-eyJ",
    "keys": "-----BEGIN PRIVATE KEY-----",
    "vendors": "sk-proj-",
    "hooks": "http://a/hooks/",
    "joined": '"+',
    "literals": 'password="a1b2c3d4"',
}


@pytest.mark.parametrize("run", RUNS)
def test_no_run_of_32_kib_takes_long(run: str) -> None:
    text = (RUNS[run] * (32 << 10))[: 32 << 10]
    begin = time.process_time()
    for one in (text, f'"{text}"', f"`{text}`", f"password={text}", f"`password={text}`"):
        masked(one)
    assert time.process_time() - begin < 5  # a second is usual, and a bad rule takes minutes
