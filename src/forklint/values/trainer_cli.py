"""What Lightning's command line makes: ``LightningCLI(Model, Data).datamodule``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.knowledge.starters import trainer_cli
from forklint.project.module import ClassFacts
from forklint.values import arguments
from forklint.values.model import NO_ARGUMENTS, NOTHING, Constant, Found, Instance, Made, Ref

if TYPE_CHECKING:
    from forklint.values.evaluator import Evaluator

TRAINER = "trainer"
RUN = "run"


def part(evaluator: Evaluator, owner: Made, name: str) -> Found:
    """What an attribute of such an object holds: by default, an object of the class that was given, or the trainer."""
    table = trainer_cli()
    if owner.name not in table.classes:
        return NOTHING
    given = arguments.of_call(evaluator, owner.call)
    if name == TRAINER:
        return Found(Made(table.trainer, owner.call)) if given.get(*table.other_trainer) is None else NOTHING
    source = given.get(*table.parts[name]) if name in table.parts else None
    value = evaluator.find(source).value if source is not None else None
    if not isinstance(value, Ref) or not isinstance(value.symbol, ClassFacts):
        return NOTHING
    return Found(Instance(value.symbol, NO_ARGUMENTS, owner.call), by_default=True)


def given_to_trainer(evaluator: Evaluator, made: Made) -> list[Found]:
    """What the trainer is given as soon as such an object is made; nothing with ``run=False``."""
    table = trainer_cli()
    if made.name not in table.classes:
        return []
    given = arguments.of_call(evaluator, made.call)
    run = given.keywords.get(RUN)
    if given.open or (run is not None and evaluator.find(run).value != Constant(value=True)):
        return []
    return [part(evaluator, made, name) for name in table.parts]
