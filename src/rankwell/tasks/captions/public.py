"""Public names of text-video retrieval: every line puts one into `rankwell`, which loads it on
first use.
"""

from rankwell.tasks.captions.evaluation import captions as captions
from rankwell.tasks.captions.hgr import eval_q2m as eval_q2m
from rankwell.tasks.captions.options import CaptionOptions as CaptionOptions
