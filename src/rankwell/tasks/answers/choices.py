"""What is measured: the words of a convention, or those that were asked for, by the part that they judge."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure, choose_measures
from rankwell.core.registry import Measure, parse_measure, suggest
from rankwell.errors import BadUsage, UnknownName
from rankwell.tasks.answers.answer_pairs import AnswerPairs
from rankwell.tasks.answers.conventions import AnswerConvention
from rankwell.tasks.answers.failures import Judge
from rankwell.tasks.answers.reading import compares_positions, whole

# What is told of a retriever under conventions that judge readers only.
_PLAIN = ("Success", "AP", "RR")


class Wanted(NamedTuple):
    """The measures of the retriever and of the reader, and how questions are found to be answered rightly.

    notes: measures that cannot be computed without a retriever's run, and are left out.
    """

    retriever: tuple[LabelledMeasure, ...]
    reader: tuple[LabelledMeasure, ...]
    judge: Judge
    notes: tuple[str, ...]


class Words(NamedTuple):
    """How words become measures of answers."""

    convention: Convention
    k: int
    retriever_k: int
    normalizer: str | None
    language: str | None
    na_threshold: float | None

    @property
    def reading(self) -> AnswerConvention:
        """The convention's options for answers."""
        return answer_rules(self.convention.name)

    def answers(self, texts: Sequence[str] | None) -> tuple[LabelledMeasure, ...]:
        """The measures of answers that words name, those of the convention's report where none are given."""
        return answer_measures(
            texts,
            self.convention,
            k=self.k,
            normalizer=self.normalizer,
            language=self.language,
            na_threshold=self.na_threshold,
        )


def choose(
    words: Words,
    measures: Sequence[str] | None,
    right: str | None,
    *,
    has_run: bool,
    has_answers: bool,
    k_given: bool = False,
) -> Wanted:
    """The measures that are wanted and can be had. Raises BadUsage for one that was named and cannot, and where none is left.

    k_given: whether `words.k` was asked for, so that it is said where no measure heeds it.
    """
    for text in measures or ():
        _refuse_other_cut(text, words)
    named = None if measures is None else [(text, _measure(text, words)) for text in measures]
    strange = next((text for text, each in named or () if _part(each) is None), None)
    if strange is not None:
        raise BadUsage(f"{strange!r} judges neither retrieved documents nor answers; `rankwell measures` lists what does.")
    by_part = {part: [text for text, each in named or () if _part(each) == part] for part in ("retriever", "reader")}
    if by_part["retriever"] and not has_run:
        raise BadUsage(f"{by_part['retriever'][0]!r} judges retrieved documents; give the retriever's run (--retrieved).")
    if by_part["reader"] and not has_answers:
        raise BadUsage(f"{by_part['reader'][0]!r} judges answers; give the reader's PREDICTIONS.")
    retriever = tuple(_retriever(text, words) for text in by_part["retriever"]) if named else _default_retriever(words)
    reader = words.answers(by_part["reader"] or None) if named is None or by_part["reader"] else ()
    away = [each for each in reader if each.measure.parameters["retrieval"] != "ignored"] if has_answers and not has_run else []
    labels = ", ".join(each.label for each in away)
    if away and (named is not None or len(away) == len(reader)):
        raise BadUsage(f"{labels}: judged with regard to what was retrieved; give the retriever's run (--retrieved).")
    notes = (f"left out, as they ask what was retrieved; to have them, give the retriever's run (--retrieved): {labels}",)
    notes = notes if away else ()
    if k_given and not (has_answers and _heeds_k(words, by_part["reader"] or None)):
        notes += (f"-k {words.k}: no measure here looks at as many answers as -k says, so that it decides no mean",)
    if len(words.reading.languages) > 1 and has_answers and words.normalizer is None and words.language is None:
        notes += (f"the rules are those of {next(iter(words.reading.languages))}, as --language names no other",)
    if has_answers:
        _refuse_idle(words, reader)
    judge = _judge(words, reader, right)
    kept = tuple(each for each in reader if each not in away)
    return Wanted(retriever if has_run else (), kept if has_answers else (), judge, notes)


def _measure(text: str, words: Words) -> Measure:
    """The measure that a word names; a cut-off is added where it needs one."""
    text = words.reading.other_words.get(text.strip(), text)
    try:
        return parse_measure(f"{text}@{words.retriever_k}", words.convention.words)
    except BadUsage:
        return parse_measure(text, words.convention.words)


def _part(measure: Measure) -> str | None:
    if measure.entry.view is AnswerPairs:
        return "reader"
    return "retriever" if measure.entry.view.__name__ in ("JudgedRankings", "GroupRankings") else None


def _retriever(text: str, words: Words) -> LabelledMeasure:
    return LabelledMeasure(_measure(text, words), text.strip())


def _default_retriever(words: Words) -> tuple[LabelledMeasure, ...]:
    own = retriever_measures(words.convention, words.retriever_k)
    return own or choose_measures([f"{name}@{words.retriever_k}" for name in _PLAIN], words.convention)


def _heeds_k(words: Words, texts: Sequence[str] | None) -> bool:
    return words.answers(texts) != words._replace(k=words.k + 1).answers(texts)


def _refuse_other_cut(text: str, words: Words) -> None:
    """Raises BadUsage for a word that has a cut-off of its own and is given another: its name would lie."""
    word, at, other = text.strip().rpartition("@")
    meaning = words.convention.words.get(word) if at else None
    try:
        own = None if meaning is None else parse_measure(meaning).cutoff
    except BadUsage:  # It needs one and has none of its own.
        return
    if own is not None and other != str(own):
        what = f"{text!r}: {word} of the convention {words.convention.name} is cut at {own}"
        raise BadUsage(f"{what}; leave out @{other}, or name another measure.")


def refuse_idle(options: Mapping[str, tuple[Any, Mapping[str, Any]]]) -> None:
    """Raises BadUsage for an option that is about something that was not given: what -> (it, options -> their values)."""
    for what, (place, values) in options.items():
        given = next((name for name, value in values.items() if value is not None), None)
        if place is None and given is not None:
            option = what if what.isupper() else f"--{what}"
            shown = f" {values[given]}" if isinstance(values[given], (str, int, float)) else ""
            raise BadUsage(f"--{given.replace('_', '-')}{shown} says nothing without {option}; give it, or leave this out.")


def cut_off(option: str, value: int | None, otherwise: int) -> int:
    """The cut-off. Raises BadUsage for what is no whole number from 1."""
    if value is not None and value < 1:
        raise BadUsage(f"{option}={value}; cut-offs are whole numbers from 1.")
    return otherwise if value is None else value


def shared_part(share: float | None, relevance: str | None) -> float:
    """How much of their text two documents must share. Raises BadUsage where nothing heeds it, and for what is no part."""
    if share is not None and relevance != "context":
        raise BadUsage(f"--context-share {share}: only --relevance context looks at it; say so, or leave it out.")
    if share is not None and not 0 < share <= 1:
        raise BadUsage(f"--context-share {share}; a part above 0 and at most 1 is wanted.")
    return 0.65 if share is None else share


def _refuse_idle(words: Words, reader: Sequence[LabelledMeasure]) -> None:
    """Raises BadUsage for an option that no measure heeds."""
    for option, value in (("normalizer", words.normalizer), ("na_threshold", words.na_threshold)):
        if value is not None and reader and not any(each.measure.parameters.get(option) == value for each in reader):
            what = f"--{option.replace('_', '-')} {value}: no measure of the convention {words.convention.name} heeds it"
            raise BadUsage(f"{what}; it compares positions, take one that compares texts.")


def _judge(words: Words, reader: Sequence[LabelledMeasure], right: str | None) -> Judge:
    """By which measure a question is answered rightly: the one that is named, else the first; and by which in part."""
    if right is not None and _part(_measure(right, words)) != "reader":
        raise BadUsage(f"--right {right!r} judges no answers; name one of {', '.join(words.reading.labels)}.")
    asked = reader or words.answers(None)
    everything = [each.measure for each in asked]
    first = words.answers([right])[0] if right is not None else asked[0]
    decides = whole(first.measure)
    label = first.label if decides == first.measure else f"{first.label} over all questions"
    shares = [whole(each) for each in everything if each.name == "AnswerF1" and each.parameters["over"] == "best"]
    same = [each for each in shares if compares_positions(each) == compares_positions(decides)]
    partial = same[0].with_parameters(k=decides.cutoff) if same else decides
    return Judge(decides, partial, decides.with_parameters(k=max(words.k, decides.cutoff or words.k)), label)


def one_of(what: str, value: str, options: Any) -> Any:
    """The value. Raises UnknownName where it is none of the options, a Literal."""
    if value not in get_args(options):
        raise UnknownName(f"{what} {value!r} does not exist; {suggest(value, get_args(options))}")
    return value


def cut_offs(k: int) -> list[int]:
    """Every cut-off up to ten, and round ones beyond."""
    return sorted({each for each in (*range(1, 11), 15, 20, 30, 50, 75, 100, 200, 500, 1000) if each < k} | {k})


def answer_rules(name: str) -> AnswerConvention:
    """The options of a convention for answers to questions. Raises BadUsage for one that does not, UnknownName for none."""
    found = CONVENTIONS[name].tasks.get("answers")
    if found is None:
        known = [each for each in CONVENTIONS if "answers" in CONVENTIONS[each].tasks]
        raise BadUsage(f"the convention {name} does not judge answers to questions; there are {', '.join(known)}.")
    return found


def retriever_measures(convention: Convention, k: int) -> tuple[LabelledMeasure, ...]:
    """The measures of a convention for the first k retrieved documents, under its own labels."""
    found: list[LabelledMeasure] = []
    rules: AnswerConvention | None = convention.tasks.get("answers")
    for word in rules.retriever if rules else ():
        label = f"{word}{k}" if word.endswith("@") else word
        try:
            measure = parse_measure(f"{word.removesuffix('@')}@{k}", convention.words)
        except BadUsage:
            measure = parse_measure(label, convention.words)
        found.append(LabelledMeasure(measure, label))
    return tuple(found)


def answer_measures(
    texts: Sequence[str] | None,
    convention: Convention,
    *,
    k: int,
    normalizer: str | None = None,
    language: str | None = None,
    na_threshold: float | None = None,
) -> tuple[LabelledMeasure, ...]:
    """The measures of answers that words name under a convention, those of its report where none are given.

    k: for words without a cut-off of their own. normalizer, or the language's where the convention has several: for measures
    that compare texts. na_threshold: for every measure that may abstain. Raises BadUsage where the convention has no languages.
    """
    rules = answer_rules(convention.name)
    named = None if texts is None else [rules.other_words.get(text.strip(), text) for text in texts]
    if language is not None and normalizer is None:
        normalizer = _language(convention.name, rules, language)
    found: list[LabelledMeasure] = []
    for each in choose_measures(named or rules.labels, convention):
        measure = each.measure
        if measure.accepts("k") and measure.cutoff is None:
            measure = measure.with_parameters(k=k)
        if normalizer is not None and measure.accepts("normalizer") and not compares_positions(measure):
            measure = measure.with_parameters(normalizer=normalizer)
        if na_threshold is not None and measure.accepts("na_threshold"):
            measure = measure.with_parameters(na_threshold=na_threshold)
        found.append(LabelledMeasure(measure, each.label))
    return tuple(found)


def _language(name: str, rules: AnswerConvention, language: str) -> str:
    if language not in rules.languages:
        hint = "; French has the convention french" if language == "fr" and name != "french" else ""
        known = f"it has {', '.join(rules.languages)}" if rules.languages else "it has one rule for all"
        raise BadUsage(f"the convention {name} has no rules for the language {language!r}: {known}{hint}.")
    return rules.languages[language]
