"""Secrets come from the environment, and are in no message."""

import pytest

from rankwell.core.secrets import Secrets, refuse_literal
from rankwell.errors import BadUsage


def test_a_variable_is_replaced_by_its_value_and_the_value_by_its_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PGPASSWORD", "s3/cr@t")
    secrets = Secrets()

    url = secrets.expand("postgresql://app:${PGPASSWORD}@localhost/shop")

    assert url == "postgresql://app:s3%2Fcr%40t@localhost/shop"
    assert secrets.redact(f"no route to {url}, also written s3/cr@t") == (
        "no route to postgresql://app:${PGPASSWORD}@localhost/shop, also written ${PGPASSWORD}"
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [("p@ss/wo rd:7%", "p%40ss%2Fwo%20rd%3A7%25"), ("plain-1!", "plain-1!"), ("a%20b%40c", "a%20b%40c"), ("ü", "%C3%BC")],
)
def test_the_password_of_an_address_is_written_as_an_address_writes_it(value: str, written: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PGPASSWORD", value)
    secrets = Secrets()

    url = secrets.expand("postgresql://app:${PGPASSWORD}@localhost/shop")

    assert url == f"postgresql://app:{written}@localhost/shop"
    assert secrets.redact(f"{url} {value}") == "postgresql://app:${PGPASSWORD}@localhost/shop ${PGPASSWORD}"
    assert secrets.expand("Bearer ${PGPASSWORD}") == f"Bearer {value}"


def test_a_longer_secret_is_hidden_before_one_that_it_contains(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHORT", "abc")
    monkeypatch.setenv("LONG", "abcdef")
    secrets = Secrets()

    text = secrets.expand("${SHORT} ${LONG}")

    assert secrets.redact(text) == "${SHORT} ${LONG}"


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)

    with pytest.raises(BadUsage, match="no variable NO_SUCH_KEY"):
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
    with pytest.raises(BadUsage, match="written out"):
        refuse_literal("token", "porter")
