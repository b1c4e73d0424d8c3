"""Public names of agreement of two embedding models: every line puts one into `rankwell`, which
loads it on first use.
"""

from rankwell.tasks.agreement.evaluation import agree as agree
from rankwell.tasks.agreement.evaluation import compare_lists as compare_lists
from rankwell.tasks.agreement.options import AgreementOptions as AgreementOptions
