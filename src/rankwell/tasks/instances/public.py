"""Public names of instance search: every line puts one into `rankwell`, which loads it on first
use.
"""

from rankwell.tasks.instances.evaluation import evaluate_instances as evaluate_instances
from rankwell.tasks.instances.formats import read_images as read_images
from rankwell.tasks.instances.images import Images as Images
from rankwell.tasks.instances.options import InstanceOptions as InstanceOptions
