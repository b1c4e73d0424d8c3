"""Encoders of pictures in Python code: any function that turns their paths into vectors, and
networks of torch with a file of weights, given by name or as they are.
"""

import hashlib
import inspect
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rankwell.data.code import code_name, load_anything, load_module, load_object, origin_of
from rankwell.data.registry import suggest
from rankwell.errors import BadInput, BadUsage, MissingExtra, UnknownName, kind_of, needing
from rankwell.store import Source
from rankwell.vectors.encoders import ImageEncoder, ImageSettings, Pixels, Singles, image_encoder


@image_encoder("callable")
def load_callable(model: Any, settings: ImageSettings) -> ImageEncoder:
    """The function that `./FILE.py:OBJECT` names, or the thing itself; a class is called without
    arguments first.

    Vectors are kept for the next time only where it has a method `describe`, which says as a dict
    for JSON all that decides them: what a function computes cannot be seen from its name. Raises
    BadUsage for what cannot be called.
    """
    encoder = load_object(model) if isinstance(model, str) else model
    of_object = (
        f"{encoder.__module__}:{encoder.__qualname__}"
        if inspect.isroutine(encoder)
        else type(encoder).__name__
    )
    name = model if isinstance(model, str) else of_object
    if inspect.isclass(encoder):
        encoder = _made(encoder, name, "encoder", "of paths")
    if not callable(encoder):
        raise BadUsage(
            f"{name}: {kind_of(encoder)} cannot be called; expected a function of paths that "
            "returns vectors."
        )
    settings.allow(name, "normalize", "batch_size")
    function: Any = encoder
    is_known = callable(getattr(function, "describe", None))
    normalize, batch_size = bool(settings.normalize), settings.batch_size or 16
    description = {
        "family": "callable",
        "model": name,
        "normalize": normalize,
        "batch_size": batch_size,
    }
    if code := origin_of(encoder):
        description["code"] = code
    if is_known and (own_description := function.describe()):
        description["says"] = own_description
    return ImageEncoder(
        name, lambda paths: function(list(paths)), description, batch_size, normalize, is_known
    )


def _made(code_object: Any, name: str, noun: str, functions: str) -> Any:
    """What a class or a function makes without arguments. Raises BadUsage where it fails."""
    try:
        return code_object()
    except Exception as error:
        raise BadUsage(
            f"{name}: the {noun} cannot be made without arguments ({error}); name a function "
            f"{functions}."
        ) from error


def _network(model: Any, name: str, settings: ImageSettings) -> Any:
    """The network that a name, or an object, stands for. Raises BadUsage for anything else."""
    import torch

    network = load_anything(model) if isinstance(model, str) else model
    is_bare = isinstance(network, type) and settings.weights is None
    if not isinstance(network, torch.nn.Module) and callable(network):
        network = _made(network, name, "network", "that makes it")
    if not isinstance(network, torch.nn.Module):
        raise BadUsage(
            f"{name} is {kind_of(network)}; expected a torch.nn.Module, or a function that makes "
            "one."
        )
    if is_bare and next(network.parameters(), None) is not None:
        raise BadUsage(
            f"{name} is a class, whose weights are random until a file fills them; name "
            "weights in the encoder's file, or a function that makes the network with its weights."
        )
    return network


@image_encoder("torch")
def load_network(model: Any, settings: ImageSettings) -> ImageEncoder:
    """The network that `./FILE.py:OBJECT` names, a class or a function that makes one without
    arguments, or a network itself.

    Networks are `(n, 3, height, width) -> (n, d)`. Where no size is given, every picture goes in
    alone as large as it is. Of a tuple the first part is taken, of a mapping the part that
    `output` names. Vectors have length one, unless `normalize` is False; they are kept for the
    next time only where the network comes from a file of code. weights: a state dict, of which
    nothing but tensors is read. Raises MissingExtra, BadUsage for another object, BadInput for
    weights that are not its own.
    """
    with needing("networks of torch need torch: pip install 'rankwell[torch]'."):
        import torch
    name = model if isinstance(model, str) else type(model).__name__
    network = _network(model, name, settings)
    name_of_code = code_name(model) if isinstance(model, str) else None
    source = None if name_of_code is None else load_module(name_of_code, name).__file__
    settings.allow(
        "torch", *Pixels.SETTINGS, "output", "weights", "normalize", "batch_size", "device"
    )
    device = settings.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if settings.weights is not None:
        _fill(network, settings.weights)
    try:
        network = network.to(device).eval()
    except (RuntimeError, AssertionError) as error:
        raise BadUsage(
            f"device {device!r}: {str(error).splitlines()[0]}; cpu is always there."
        ) from error
    pixels, output = Pixels.of(settings, None), settings.output
    normalize, batch_size = settings.normalize is not False, settings.batch_size or 16
    code = "" if source is None else _code(network, source)

    def _run(batch: Singles) -> Any:
        with torch.inference_mode():
            returned: Any = network(torch.from_numpy(batch).to(device))
        if isinstance(returned, Mapping):
            outputs = dict[str, Any](returned)
            if output is None or output not in outputs:
                no_output = "" if output is None else f" no {output!r};"
                raise UnknownName(
                    f"{name} gives{no_output} {', '.join(map(str, outputs))}; "
                    f"{suggest(output or '', map(str, outputs))}"
                )
            returned = outputs[output]
        elif output is not None:
            raise BadUsage(
                f"{name} gives no mapping of outputs, so that none is called {output!r}; "
                "leave it out."
            )
        returned = returned[0] if isinstance(returned, (tuple, list)) else returned
        return returned.detach().float().cpu().numpy()

    description = {
        "family": "torch",
        "model": name,
        "code": code,
        "weights": None if settings.weights is None else settings.weights.name,
        "weights_hash": _weights_hash(network),
        "output": output,
        "pixels": pixels.describe(),
        "normalize": normalize,
        "batch_size": batch_size,
        "device": device,
        "versions": {"torch": torch.__version__},
    }
    return ImageEncoder(
        name, partial(pixels.through, _run), description, batch_size, normalize, bool(code)
    )


def _fill(network: Any, path: Path) -> None:
    """Puts the weights of a file into a network. Raises BadInput where the file holds anything but
    its weights.
    """
    import torch

    source = Source(path)
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            content = load_file(path)
        else:
            # Anything but tensors and plain containers is refused: a pickle could run whatever it
            # likes.
            content = torch.load(source.name, map_location="cpu", weights_only=True)
    except ImportError as error:
        raise MissingExtra("this file is read by safetensors: pip install safetensors.") from error
    except Exception as error:
        message = " ".join(str(error).split())[:160]
        raise BadInput(
            f"{path}: no state dict can be read ({message}); save it with "
            "torch.save(network.state_dict(), …)."
        ) from error
    # A checkpoint of a training run holds the state dict beside other things; DataParallel puts its
    # own name before each.
    state = content.get("state_dict", content) if isinstance(content, dict) else content
    if not isinstance(state, Mapping):
        raise BadInput(
            f"{path} holds {kind_of(state)}; expected a state dict: "
            "torch.save(network.state_dict(), …)."
        )
    bare = {name.removeprefix("module."): tensor for name, tensor in state.items()}
    try:
        network.load_state_dict(bare)
    except (RuntimeError, TypeError, AttributeError) as error:
        message = " ".join(str(error).split())[:240]
        raise BadInput(
            f"{path} does not hold this network's weights ({message}); give the file of this "
            "network."
        ) from error


def _code(network: Any, source: str) -> str:
    """The hash of what a network prints as, of the file that makes it and of those of its classes;
    empty where one is in none.
    """
    files = {source}
    for module in network.modules():
        # Torch's own are determined by its version.
        if type(module).__module__.partition(".")[0] != "torch":
            try:
                files.add(inspect.getfile(type(module)))
            except (TypeError, OSError):
                return ""
    if not all(Path(file).is_file() for file in files):
        return ""
    identity = "\n".join([str(network), *sorted(Source(file).digest() for file in files)])
    return "sha256:" + hashlib.sha256(identity.encode()).hexdigest()


def _weights_hash(network: Any) -> str:
    """The SHA-256 over all parameters and buffers, by name."""
    import torch

    total = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        values = tensor.detach().cpu().contiguous()
        total.update(f"{name}\0{values.dtype}\0{tuple(values.shape)}\n".encode())
        total.update(values.flatten().view(torch.uint8).numpy().tobytes())
    return "sha256:" + total.hexdigest()
