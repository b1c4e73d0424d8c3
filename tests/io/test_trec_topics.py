from pathlib import Path

import pytest

from rankwell.errors import BadInput, BadLine
from rankwell.io import formats as files
from rankwell.io.formats import Request

SGML = """<top>

<num> Number: 301
<title> International
Organized Crime

<desc> Description:
Identify organizations, and a < b.

<narr> Narrative:
A relevant document is "so" & so.

</top>

<top>
<num>Number: 302</num>
<title>Topic: Poliomyelitis</title>
<desc>Description: Is it under control?</desc>
</top>
"""
XML = """<?xml version="1.0" encoding="UTF-8"?>
<topics task="COVIDSearch Round 1">
  <!-- fifty of them -->
  <topic number="1" type="faceted">
    <query>coronavirus &amp; origin</query>
    <subtopic number="1" type="inf">where</subtopic>
    <subtopic number="2" type="nav"><![CDATA[when & <who>]]></subtopic>
  </topic>
  <topic number='2'><query>weather</query><narrative>in <i>any</i> season</narrative></topic>
</topics>
"""


def written(folder: Path, text: str, name: str = "topics.txt") -> Path:
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder / name


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_topics_with_and_without_closing_tags_have_their_titles_as_texts(end: str, tmp_path: Path):
    found = files.read_texts(written(tmp_path, SGML.replace("\n", end)))

    assert found.format == "trec-topics"
    assert found.texts == {"301": "International Organized Crime", "302": "Poliomyelitis"}
    assert found.attributes == {
        "301": {
            "desc": "Identify organizations, and a < b.",
            "narr": 'A relevant document is "so" & so.',
        },
        "302": {"desc": "Is it under control?"},
    }


def test_topics_in_xml_are_read_with_entities_and_tags_inside_fields(tmp_path: Path):
    found = files.read_texts(written(tmp_path, XML, "topics.xml"))

    assert found.texts == {"1": "coronavirus & origin", "2": "weather"}
    assert found.attributes == {
        "1": {"subtopic": "where; when & <who>"},
        "2": {"narrative": "in any season"},
    }


def test_topics_without_a_title_have_their_description_or_their_content_as_text_and_a_note_says_so(
    tmp_path: Path,
):
    described = written(
        tmp_path, "<top>\n<num> Number: 201\n<desc> Description:\nis it so?\n</top>\n"
    )
    bare = written(
        tmp_path, '<topics><topic number="1">a patient of 45 years</topic></topics>', "bare.xml"
    )
    request = Request()

    assert files.read_as(described, "texts", None, request)[0].texts == {"201": "is it so?"}
    assert request.findings == [
        f"{described}: the topics have no title; their text is the field desc"
    ]
    assert files.read_texts(bare).texts == {"1": "a patient of 45 years"}
    assert files.read_ids(bare) == {"1"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SGML + "<top>\n<num> Number: 303\n<title> x\n",
            r":20: the topic has no end \(</top>\); is the file whole\?",
        ),
        (SGML.replace("302", "301"), ":15: the topic '301' already appears above"),
        (SGML.replace("<num> Number: 301", ""), ":1: a topic without a number"),
        (SGML.replace("Number: 301", "Number: 3 01"), ":1: a topic with the number '3 01'"),
        (SGML + "and more\n", ":20: 'and more.* is outside a topic"),
        (
            "<top>\n<num> Number: 1\n<gene> BRAF\n</top>\n",
            "no topic has a text .*; found are the fields gene",
        ),
        ("<top>\n<num> Number: 1\n<title>\n</top>\n", "no topic has a text"),
    ],
)
def test_topics_that_lack_something_are_refused_with_their_line(
    text: str, message: str, tmp_path: Path
):
    with pytest.raises((BadInput, BadLine), match=message):
        files.read_texts(written(tmp_path, text))


def test_many_comments_in_front_of_something_else_take_no_time(tmp_path: Path):
    comments = "<!-- a -->\n" * 60

    assert files.read_texts(written(tmp_path, comments + SGML + comments)).texts.keys() == {
        "301",
        "302",
    }
    with pytest.raises(BadInput, match="does it have a header or tabs of another format"):
        files.read_judgments(written(tmp_path, comments + "x"))
    with pytest.raises(BadLine, match=r":80: 'x' is outside a topic"):
        files.read_texts(written(tmp_path, SGML + comments + "x"))


def test_a_run_in_place_of_texts_is_not_to_be_exchanged(tmp_path: Path):
    with pytest.raises(
        BadInput,
        match=r"this looks like a run \(trec\); expected texts; name another file, or name the "
        r"format",
    ):
        files.read_texts(written(tmp_path, "q Q0 d 1 2.5 t\n"))


def test_texts_of_which_each_is_empty_are_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="each of the 2 texts is empty"):
        files.read_texts(written(tmp_path, "q1\t\nq2\t \n", "texts.tsv"))
    with pytest.raises(BadInput, match="each of the 1 texts is empty"):
        files.read_texts({"q1": ""})
    assert files.read_texts({"q1": "", "q2": "x"}).texts == {"q1": "", "q2": "x"}
