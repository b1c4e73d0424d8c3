"""The columns of logs, policies, models and clicks: the names that they go by, and the numbers that
they hold.
"""

from rankwell.io.records import Range

WORDS: dict[str, tuple[str, ...]] = {
    "query": (
        "query",
        "queryid",
        "qid",
        "round",
        "roundid",
        "slate",
        "slateid",
        "session",
        "sessionid",
        "impression",
        "impressionid",
    ),
    "user": (
        "user",
        "userid",
        "visitor",
        "visitorid",
        "customer",
        "customerid",
        "member",
        "memberid",
        "device",
        "deviceid",
    ),
    "list": ("list", "listid", "query", "queryid", "qid"),
    "impression": ("impression", "impressionid"),
    "item": ("item", "itemid", "action", "arm", "docno", "docid", "doc"),
    "position": ("position", "slot", "rank"),
    "reward": ("reward", "click", "clicks", "clicked"),
    "propensity": ("propensity", "propensityscore", "pscore"),
    "probability": ("probability", "prob", "propensity", "propensityscore", "pscore"),
    "estimate": ("estimate", "estimatedreward", "expectedreward", "prediction", "reward"),
}
"""Content of a column -> the names that it goes by, in the order of preference."""

FINITE = Range()
PROPENSITY = Range(above=1e-300, most=1, words="a probability above 0, at most 1")
CLICKED = Range(
    least=0, most=1, words="1 for a clicked item or 0 for one that was only shown", is_integer=True
)
PROBABILITY = Range(least=0, most=1, words="a probability from 0 to 1")
