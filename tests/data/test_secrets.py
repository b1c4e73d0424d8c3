"""Secrets come from the environment, and are in no message."""

import json
import random
import re
import string
from itertools import product
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from rankwell.data.secrets import Secrets, refuse_literal
from rankwell.errors import BadUsage, without_credentials
from regression.running import in_process


def test_a_variable_is_replaced_by_its_value_and_the_value_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("PGPASSWORD", "s3/cr@t")
    secrets = Secrets()

    url = secrets.expand("postgresql://app:${PGPASSWORD}@localhost/shop")

    assert url == "postgresql://app:s3%2Fcr%40t@localhost/shop"
    assert secrets.redact(f"no route to {url}, also written s3/cr@t") == (
        "no route to postgresql://app:${PGPASSWORD}@localhost/shop, also written ${PGPASSWORD}"
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("p@ss/wo rd:7%", "p%40ss%2Fwo%20rd%3A7%25"),
        ("plain-1!", "plain-1!"),
        ("a%20b%40c", "a%20b%40c"),
        ("ü", "%C3%BC"),
    ],
)
def test_the_password_of_an_address_is_written_as_an_address_writes_it(
    value: str, written: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PGPASSWORD", value)
    secrets = Secrets()

    url = secrets.expand("postgresql://app:${PGPASSWORD}@localhost/shop")

    assert url == f"postgresql://app:{written}@localhost/shop"
    assert (
        secrets.redact(f"{url} {value}")
        == "postgresql://app:${PGPASSWORD}@localhost/shop ${PGPASSWORD}"
    )
    assert secrets.expand("Bearer ${PGPASSWORD}") == f"Bearer {value}"


def test_a_longer_secret_is_hidden_before_one_that_it_contains(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHORT", "abc")
    monkeypatch.setenv("LONG", "abcdef")
    secrets = Secrets()

    text = secrets.expand("${SHORT} ${LONG}")

    assert secrets.redact(text) == "${SHORT} ${LONG}"


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)

    with pytest.raises(BadUsage, match="NO_SUCH_KEY is not set"):
        Secrets().expand("Bearer ${NO_SUCH_KEY}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("url", "postgresql://app:hunter2@localhost/shop"),
        ("url", "postgresql://app:hun/ter2?@localhost/shop"),
        ("url", "postgresql://app:hunter2@x@localhost/shop"),
        ("url", "postgresql://localhost/shop?user=app&password=hunter2"),
        ("", "https://:hunter2@localhost:9200/"),
        ("Authorization", "Bearer hunter2"),
        ("X-Api-Key", "hunter2"),
        ("password", "hunter2"),
    ],
)
def test_a_secret_that_is_written_out_is_refused_and_not_repeated(name: str, text: str):
    with pytest.raises(BadUsage, match=r"\$\{") as caught:
        refuse_literal(name, text)

    assert "hun" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("url", "postgresql://app:${PGPASSWORD}@localhost/shop"),
        ("url", "postgresql://app@localhost:5432/shop"),
        ("url", "http://localhost:9200/_search?q=a@b"),
        ("url", "https://localhost/?api_key=${KEY}"),
        ("Authorization", "Bearer ${KEY}"),
        ("table", "tokens"),
    ],
)
def test_names_of_variables_and_addresses_without_secrets_pass(name: str, text: str):
    refuse_literal(name, text)


def test_a_tokenizer_is_not_a_secret() -> None:
    refuse_literal("tokenizer", "porter")
    with pytest.raises(BadUsage, match="in plain text"):
        refuse_literal("token", "porter")


PARTS = ("/", "@", ":", "?", "#", "%", "&", "=", "+", ";", "!", "'", "$", "~", "12", "hun", "ter")
ADDRESSES = (
    "https://{user}:{password}@host.example:9200/index",
    "postgres://{user}:{password}@host.example/db",
    "s3://{user}:{password}@bucket/run.csv",
    "HTTP://{user}:{password}@host.example",
)


def _drawn(draw: random.Random) -> tuple[str, str]:
    """A user and a password of characters that have a meaning in URLs; parts of six letters show
    whether either appears.
    """
    user, password = (
        ["".join(draw.choices(string.ascii_lowercase, k=6)) for _ in range(3)] for _ in range(2)
    )
    separators = [draw.choice(PARTS) for _ in range(4)]
    # A user ends at the first colon.
    return user[0] + "/" * draw.randrange(2) + user[1], separators[0].join(password) + separators[1]


def _leaked(text: str, password: str) -> list[str]:
    return [part for part in re.findall("[a-z]{6}", password) if part in text]


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_part_of_a_password_with_characters_of_urls_is_in_a_message(
    address: str, monkeypatch: pytest.MonkeyPatch
):
    draw = random.Random(0)
    for _ in range(300):
        user, password = _drawn(draw)
        url = address.format(user=user, password=password)

        assert _leaked(without_credentials(f"cannot open {url}: refused"), password) == []
        assert _leaked(str(BadUsage(f"{url!r} is not there.")), password) == []
        with pytest.raises(BadUsage, match=r"\$\{PASSWORD\}") as caught:
            refuse_literal("url", url)
        assert _leaked(str(caught.value), password) == []
        monkeypatch.setenv("WHOLE", url)
        secrets = Secrets()
        expanded = secrets.expand("${WHOLE}")
        where = urlsplit(expanded)
        assert unquote(where.password or "") == unquote(password)
        said = (
            f"no host {where.hostname}; {where.password}; {unquote(where.password or '')}; "
            f"{expanded!r}; {json.dumps(password)}"
        )
        assert _leaked(secrets.redact(said), password) == []


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "token",
        "access_token",
        "sig",
        "X-Amz-Signature",
        "key",
        "password",
        "client_secret",
    ],
)
def test_a_token_in_the_query_of_an_address_is_refused_and_hidden(name: str):
    url = f"https://host.example/search?k=5&{name}=hun/ter@2&size=3"

    with pytest.raises(BadUsage, match="contains a password or a token") as caught:
        refuse_literal("url", url)

    assert "hun" not in str(caught.value)
    assert (
        without_credentials(f"GET {url} failed")
        == f"GET https://host.example/search?k=5&{name}=…&size=3 failed"
    )


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:9200/_search?q=a@b",
        "postgresql://USER:${PASSWORD}@HOST/DATABASE",
        "postgresql://app@localhost:5432/shop",
        "expected http://HOST:PORT or https://HOST:PORT.",
        "s3://bucket/runs/a.run has no lines",
        "out/a.run:3: 'http://x' is not a number",
    ],
)
def test_other_addresses_are_shown(text: str):
    assert without_credentials(text) == text


def test_a_password_that_a_message_cuts_is_hidden(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PGPASSWORD", "hunter2hunter2")
    secrets = Secrets()
    secrets.expand("${PGPASSWORD}")

    assert secrets.redact("the server said: hunter2hun") == "the server said: ${PGPASSWORD}"
    assert without_credentials("'https://app:hunter2/hun…") == "'https://…"


COMMANDS = (
    "evaluate qrels {url}",
    "evaluate {url} run",
    "compare {url} run",
    "report {url}",
    "engine run {url} --queries q.jsonl -o out",
    "engine run postgres --url {url} --queries q.jsonl -o out",
    "engine check {url}",
    "engine check chroma:{url}",
    "knn {url} {url} -o out.npy",
    "evaluate qrels run --work {url} -o out",
    "convert {url} out.csv",
    "convert run {url}",
    "knn e.npy e.npy -o {url}",
    "evaluate qrels run -o {url}",
    "evaluate qrels run -m {url}",
    "evaluate qrels x={url}",
    "explain {url}",
    "report x={url}",
    "report out -o {url}",
    "compare {url} y={url}",
    "power {url}",
    "gate {url} --baseline x={url}",
    "pairs {url} x={url}",
    "qa {url} {url}",
    "embeddings {url} --reference x={url}",
    "images stats {url}",
    "clicks {url} --policy {url}",
    "fuse run {url} -o out.run",
    "fuse run run -o {url}",
)
ADDRESSES = (
    "{scheme}://keykey:secsec/retret@paspas/bucket",
    "{scheme}://keykey:secsec/retret@retret@paspas",
    "{scheme}://bucket/x.run?sig=secsec/retret@retret",
    "{scheme}://bucket/x.parquet?v=2&token=secsec=retret/x",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_says_or_writes_a_credential(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 d1 1\n")
    Path("run").write_text("q1 Q0 d1 1 2.0 r\n")
    Path("q.jsonl").write_text('{"_id": "q1", "text": "a"}\n')
    for scheme, address in product(("https", "postgresql", "ray", "s3"), ADDRESSES):
        url = address.format(scheme=scheme)

        code, shown, said = in_process([word.format(url=url) for word in command.split()])

        files = list(tmp_path.rglob("*"))
        written = b"".join(path.read_bytes() for path in files if path.is_file()).decode(
            "utf-8", "replace"
        )
        assert code != 0
        assert code != 3
        assert [
            part for part in ("secsec", "retret") if part in f"{shown} {said} {written} {files}"
        ] == []


def test_long_texts_are_searched_for_credentials_in_time_that_grows_with_them():
    for text in ("a" * 100_000 + ":/", "?" * 100_000 + "://", "?pass" * 20_000 + "://"):
        assert without_credentials(text) == text


@pytest.mark.parametrize(
    "address", ["https://ghp_abcdef@host.example/x", "HTTP://ghp_abcdef@host.example:9200"]
)
def test_a_token_in_place_of_a_user_is_refused_and_hidden(address: str):
    with pytest.raises(BadUsage, match="contains a password or a token") as caught:
        refuse_literal("url", address)

    assert "ghp" not in str(caught.value)
    assert "ghp" not in str(BadUsage(f"cannot open {address}: refused"))
    assert "host.example" in without_credentials(address)


def test_an_at_behind_the_first_slash_is_part_of_a_name():
    address = "hf://datasets/org/name@main/qrels.tsv"

    assert without_credentials(address) == address
