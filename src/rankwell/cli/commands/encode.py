"""Encode texts to a file of embeddings with any model of sentence-transformers; an interrupted run
resumes.
"""

from rankwell.files.encoding import EncodeFileOptions, encode_file
from rankwell.reporting.options import Output, OutputPath, Progress


def encode(
    texts: str,
    /,
    *,
    output: OutputPath,
    encoder: str,
    options: EncodeFileOptions,
    overwrite: bool = False,
    progress: Progress = None,
) -> Output:
    """Encode texts to a file of embeddings with any model of sentence-transformers; an interrupted
    run resumes.

    Beside NAME.npy are NAME.ids.txt (where the texts have ids) and NAME.manifest.json, which
    records how it was made.

    Parameters
    ----------
    texts
        File of texts: JSON lines, CSV, TSV or Parquet with columns for id and text, or .txt with a
        text per line.
    output
        File to write, .npy; a folder on the way is made.
    encoder
        Folder or name of a model of sentence-transformers, or tfidf-svd:DIMENSIONS, which needs
        --fit.
    overwrite
        Replace vectors that were made from other texts or in another way, and other files of these
        names.
    """
    outcome = encode_file(texts, output, encoder, options, overwrite=overwrite, progress=progress)
    if outcome.result is None:
        return Output(outcome.text, outcome.notes, outcome.exit_code)
    return outcome.result
