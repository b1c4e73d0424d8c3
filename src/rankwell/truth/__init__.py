"""Truth, one file per way to decide what is relevant: tables in, Judgments out."""
