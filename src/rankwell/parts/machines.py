"""The kinds of machine that computed the parts of one work, where the bytes of a part depend on the
machine.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankwell.errors import BadInput, count_of, flag, printable, typed
from rankwell.parts import PartMachine


def machines_of(records: Mapping[int, Mapping[str, Any]]) -> list[PartMachine]:
    """The kinds of machine in the records of parts, in order of their first parts; one where bytes
    depend on none.

    >>> cpu, gpu = {"machine": {"device": "cpu"}}, {"machine": {"device": "cuda:0"}}
    >>> [
    ...     (machine.traits["device"], machine.parts)
    ...     for machine in machines_of({0: cpu, 1: gpu, 2: cpu})
    ... ]
    [('cpu', [0, 2]), ('cuda:0', [1])]
    """
    machines: dict[str, PartMachine] = {}
    for index, record in records.items():
        traits = record.get("machine", {})
        machines.setdefault(
            json.dumps(traits, sort_keys=True), PartMachine(traits, [])
        ).parts.append(index)
    return list(machines.values())


def traits_that_differ(machines: Sequence[PartMachine]) -> list[str]:
    """The names of the traits in which kinds of machine differ, in order."""
    names = sorted({name for machine in machines for name in machine.traits})
    return [
        name for name in names if len({str(machine.traits.get(name)) for machine in machines}) > 1
    ]


def machine_text(machine: PartMachine, names: Iterable[str]) -> str:
    """Some traits of a kind of machine in words.

    >>> machine_text(
    ...     PartMachine({"device": "cpu", "processor": "x86_64 AVX2"}, [0]), ["device", "processor"]
    ... )
    'the device cpu and the processor x86_64 AVX2'
    """
    return printable(" and ".join(f"the {name} {machine.traits.get(name)}" for name in names))


def mixture_text(machines: Sequence[PartMachine]) -> str:
    """The number of parts of each kind of machine, in words.

    >>> mixture_text(
    ...     [PartMachine({"device": "cpu"}, [0, 2]), PartMachine({"device": "cuda:0"}, [1])]
    ... )
    '2 parts were made with the device cpu, 1 part with the device cuda:0'
    """
    names = traits_that_differ(machines)
    first, *other_machines = machines
    texts = [
        f"{count_of(len(first.parts), 'part was', 'parts were')} made with "
        f"{machine_text(first, names)}"
    ]
    return ", ".join(
        texts
        + [
            f"{count_of(len(machine.parts), 'part')} with {machine_text(machine, names)}"
            for machine in other_machines
        ]
    )


def refuse_mixture(folder_name: str, machines: Sequence[PartMachine]) -> None:
    """Raises BadInput that names two parts whose machines differ. place: the name of their work
    folder.
    """
    if len(machines) < 2:
        return
    names = traits_that_differ(machines[:2])
    (first, first_text), (second, second_text) = (
        (machine.parts[0], machine_text(machine, names)) for machine in machines[:2]
    )
    difference = (
        f"part {first} was made with {first_text}, part {second} with {second_text}; bytes may "
        "differ"
    )
    advice = (
        "Compute the parts of one machine as the others "
        f"({typed('rankwell', 'part', folder_name, '--status')} lists them)"
    )
    raise BadInput(
        f"{folder_name}: {difference}. {advice}, or accept both ({flag('--mixed', True)}): no one "
        "machine can make such a file again."
    )
