"""Small files for the datasets of FKL301's fixtures: each builder fills a folder and returns constructor arguments."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import sqlite3
import struct
import tarfile
import zipfile
from pathlib import Path
from typing import Any

COUNT = 240


def _text(index: int) -> bytes:
    return (b"%06d" % index) * 30


def words_lmdb(folder: Path) -> dict[str, Any]:
    import lmdb

    with lmdb.open(str(folder / "words"), map_size=1 << 24) as env, env.begin(write=True) as txn:
        txn.put(b"num-samples", str(COUNT).encode())
        for index in range(1, COUNT + 1):
            txn.put(b"image-%09d" % index, _text(index))
            txn.put(b"label-%09d" % index, b"word%d" % index)
    return {"root": str(folder / "words")}


def structures_lmdb(folder: Path) -> dict[str, Any]:
    import lmdb

    with lmdb.open(str(folder / "s.lmdb"), subdir=False, map_size=1 << 24) as env, env.begin(write=True) as txn:
        for index in range(COUNT):
            txn.put(b"%06d" % index, pickle.dumps([index, index * 0.5]))
    return {"src": str(folder / "s.lmdb")}


def _h5(path: Path, **arrays: Any) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name.replace("__", "/"), data=array)


def _rows(*shape: int, dtype: str = "float32") -> Any:
    import numpy as np

    first = np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
    return np.broadcast_to(first, shape).astype(dtype)


def volumes_h5(folder: Path) -> dict[str, Any]:
    names = [f"patient{index:02d}" for index in range(24)]
    cubes = {f"{name}__image": _rows(9, 9, 9) + index for index, name in enumerate(names)}
    masks = {f"{name}__mask": _rows(9, 9, 9, dtype="int64") + index for index, name in enumerate(names)}
    _h5(folder / "ct.h5", **cubes, **masks)
    return {"path": str(folder / "ct.h5"), "patch_size": 4}


def tiles_h5(folder: Path) -> dict[str, Any]:
    _h5(folder / "tiles.h5", tiles=_rows(COUNT, 4, 5, 5), classes=_rows(COUNT, dtype="int64"))
    return {"path": str(folder / "tiles.h5")}


def latent_shards(folder: Path) -> dict[str, Any]:
    for shard in range(3):
        rows = 20 + shard
        _h5(folder / f"latents-{shard}.h5", latent=_rows(rows, 16) + 100 * shard, label=_rows(rows, dtype="int64"))
    return {"folder": str(folder)}


def spectrograms_h5(folder: Path) -> dict[str, Any]:
    _h5(folder / "mel.h5", mel=_rows(COUNT, 10), target=_rows(COUNT, dtype="int64"))
    return {"path": str(folder / "mel.h5")}


def sweeps_h5(folder: Path) -> dict[str, Any]:
    _h5(folder / "sweeps.h5", sweep=_rows(COUNT, 10))
    return {"path": str(folder / "sweeps.h5")}


def raw_zip(folder: Path) -> dict[str, Any]:
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        for index in range(COUNT):
            archive.writestr(f"{index:04d}.raw", bytes([index % 251]) * 64)
    return {"path": str(folder / "images.zip")}


def tensors_zip(folder: Path) -> dict[str, Any]:
    import torch

    with zipfile.ZipFile(folder / "depth.zip", "w") as archive:
        for index in range(COUNT):
            stream = io.BytesIO()
            torch.save(torch.full((4, 4), float(index)), stream)
            archive.writestr(f"{index:04d}.pt", stream.getvalue())
    return {"archive": str(folder / "depth.zip")}


def features_npz(folder: Path) -> dict[str, Any]:
    import numpy as np

    np.savez(folder / "features.npz", **{f"clip{index}": np.full(30, index) for index in range(COUNT)})
    items = [{"clip": f"clip{index}", "label": index % 7} for index in range(COUNT)]
    (folder / "train.json").write_text(json.dumps(items))
    return {"root": str(folder)}


def clips_tar(folder: Path) -> dict[str, Any]:
    with tarfile.open(folder / "clips.tar", "w") as archive:
        for index in range(COUNT):
            info = tarfile.TarInfo(f"{('yes', 'no', 'up', 'down')[index % 4]}/{index}.raw")
            info.size = 400
            archive.addfile(info, io.BytesIO(struct.pack("<h", index) * 200))
    return {"archive": str(folder / "clips.tar")}


def records_jsonl(folder: Path) -> dict[str, Any]:
    lines = [json.dumps({"prompt": f"{index} " * (20 + index % 5), "answer": str(index)}) for index in range(COUNT)]
    (folder / "train.jsonl").write_text("\n".join(lines) + "\n")
    return {"path": str(folder / "train.jsonl")}


def corpora(folder: Path) -> dict[str, Any]:
    for language in ("en", "de"):
        (folder / f"corpus.{language}").write_bytes(b"".join(b"%-64d" % index for index in range(COUNT)))
    return {"folder": str(folder)}


def idx_images(folder: Path) -> dict[str, Any]:
    body = b"".join(bytes([index % 251]) * 81 for index in range(COUNT))
    (folder / "images.idx3").write_bytes(struct.pack(">IIII", 2051, COUNT, 9, 9) + body)
    return {"path": str(folder / "images.idx3")}


def idx_pair(folder: Path) -> dict[str, Any]:
    labels = struct.pack(">II", 2049, COUNT) + bytes(index % 10 for index in range(COUNT))
    (folder / "labels.idx1").write_bytes(labels)
    return {"images": idx_images(folder)["path"], "labels": str(folder / "labels.idx1")}


def embeddings(folder: Path) -> dict[str, Any]:
    (folder / "embeddings.bin").write_bytes(b"".join(bytes([index % 120]) * 16 for index in range(COUNT * 8)))
    return {"path": folder / "embeddings.bin"}


def packed_records(folder: Path) -> dict[str, Any]:
    records = [_text(index)[: 60 + index % 9] for index in range(COUNT)]
    (folder / "records.bin").write_bytes(b"".join(struct.pack("<I", len(r)) + r for r in records))
    return {"path": str(folder / "records.bin")}


def clicks_db(folder: Path) -> dict[str, Any]:
    connection = sqlite3.connect(folder / "clicks.db")
    connection.execute("CREATE TABLE clicks (user INTEGER, item INTEGER, clicked INTEGER)")
    connection.executemany("INSERT INTO clicks VALUES (?, ?, ?)", [(i, i * 3, i % 2) for i in range(COUNT)])
    connection.commit()
    connection.close()
    return {"db_path": str(folder / "clicks.db")}


def dump_gz(folder: Path) -> dict[str, Any]:
    with gzip.open(folder / "dump.txt.gz", "wt") as stream:
        for index in range(COUNT * 40):
            stream.write(f"{index:06d} {hash(index) * 7919 % 10**9} a line of text that is long enough\n")
    return {"path": str(folder / "dump.txt.gz")}


def token_shard(folder: Path) -> dict[str, Any]:
    (folder / "shard.bin").write_bytes(b"".join(struct.pack("<h", index) * 128 for index in range(COUNT)))
    return {"path": str(folder / "shard.bin")}


def stack_tiff(folder: Path) -> dict[str, Any]:
    import numpy as np
    from PIL import Image

    pages = [Image.fromarray(np.full((24, 24), index % 250, dtype=np.uint8)) for index in range(COUNT)]
    pages[0].save(folder / "stack.tif", save_all=True, append_images=pages[1:])
    return {"tiff_path": str(folder / "stack.tif"), "normalise": False}
