"""Searches of the documentation site, typed in a browser into the site that lies on a disk: the
first result is the right page.
"""

import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mkdocs")

from mkdocs.config import load_config

ROOT = Path(__file__).resolve().parent.parent
SHOWN = "document.querySelector('.md-search-result__list a')?.href ?? ''"
BACKSPACE = "\ue003"
STILL = 8
NEEDED = 36

SEARCHES = {
    # Those of the research.
    "ndcg": ("reference/measures/", "understand/measures"),
    "how to compare two systems": ("guide/compare",),
    "confidence interval": ("understand/intervals",),
    "ties": ("understand/ties",),
    "significance test": ("understand/intervals", "guide/compare"),
    "unjudged documents": ("understand/ties", "guide/check"),
    "github actions": ("guide/gate",),
    "export latex table": ("guide/papers",),
    "python api": ("reference/python/index", "start/python"),
    "trec_eval": ("switch/trec-eval",),
    "elasticsearch": ("guide/engines",),
    "recall@10": ("understand/recall", "reference/measures/", "understand/measures"),
    "install": ("start/install",),
    "pandas dataframe": ("start/python",),
    "mean reciprocal rank": ("reference/measures/", "understand/measures"),
    "mAP": ("reference/measures/", "understand/measures"),
    "bm25": ("guide/engines", "guide/compare"),
    "RAG evaluation": ("guide/rag",),
    "qrels format": ("reference/formats", "start/concepts"),
    "plot": ("start/python", "guide/papers", "guide/report"),
    "docker": ("start/install",),
    "hit rate": ("reference/measures/", "understand/measures"),
    "precision at k": ("reference/measures/", "understand/measures"),
    "LLM as a judge": ("guide/llm-judges",),
    "why is my score zero": ("faq",),
    # Those of newcomers.
    "cite": ("faq", "guide/papers"),
    "windows": ("start/install", "faq"),
    "json lines": ("reference/formats",),
    "gpu": ("guide/clusters", "guide/embeddings", "start/install", "faq"),
    "p-value": ("understand/intervals", "guide/compare", "reference/glossary"),
    "how many queries do I need": ("faq", "guide/compare", "understand/intervals"),
    "compare three models": ("guide/compare", "guide/many", "guide/embeddings"),
    "exit code": ("reference/results", "guide/gate"),
    "no relevant documents": ("understand/ties", "faq"),
    "faithfulness": ("guide/rag",),
    "recommendation": ("guide/recommenders",),
    "jupyter notebook": ("start/python",),
    "custom metric": ("reference/measures/", "understand/measures", "start/python", "faq"),
    "colab": ("start/python", "start/install"),
    "embedding model": ("guide/embeddings",),
}
"""Searches, and the beginnings of the pages that answer them."""


def first_result(page: Any, words: str) -> str:
    """The place of the page that a search lists first, or "" where it finds nothing."""
    field = page.find("[data-md-component=search-query]")
    field.clear()
    field.send_keys(BACKSPACE)  # the list hears of keys only
    page.wait(lambda: not page.run(SHOWN), "the list is empty")
    field.send_keys(words)
    shown = [page.run(SHOWN)]
    # A search follows each key: the last one has answered when nothing changes any more.
    while len(shown) < STILL or len({*shown[-STILL:]}) > 1:
        time.sleep(0.05)
        shown.append(page.run(SHOWN))
    return shown[-1].rpartition("/site/")[2]


def test_searches_find_the_right_page_first(browser: Any, site: Path):
    wrong: dict[str, str] = {}
    browser.open(site / "index.html")
    for words, pages in SEARCHES.items():
        found = first_result(browser, words)
        if not found.startswith(pages):
            wrong[words] = found

    assert len(SEARCHES) - len(wrong) >= NEEDED, wrong


def test_words_of_a_search_belong_to_pages_that_there_are():
    words = load_config(str(ROOT / "mkdocs.yml")).extra["words"]

    assert [page for page in words if not (ROOT / "docs" / page).is_file()] == []
