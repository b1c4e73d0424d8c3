"""Public names of question answering: every line puts one into `rankwell`, which loads it on first
use.
"""

from rankwell.tasks.answers.answer_pairs import Predictions as Predictions
from rankwell.tasks.answers.answer_pairs import Questions as Questions
from rankwell.tasks.answers.evaluation import evaluate_answers as evaluate_answers
from rankwell.tasks.answers.formats import read_predictions as read_predictions
from rankwell.tasks.answers.formats import read_questions as read_questions
from rankwell.tasks.answers.judges import answer_judge as answer_judge
from rankwell.tasks.answers.options import AnswerOptions as AnswerOptions
