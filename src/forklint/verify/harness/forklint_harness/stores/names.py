"""What a name says of the value that it stands for: ``root``, ``label_file``, ``batch_size``, ``transform``."""

from __future__ import annotations

import re
from typing import Any, List, Optional, Tuple

from forklint_harness.stores.node import COUNT

PATH = re.compile(
    r"(^|_)(path|root|dir|directory|folder|file|filename|fname|filepath|db|lmdb|h5|hdf5|hdf|json|csv|zip|tar|archive"
    r"|dataroot|datadir|basedir|src|location|uri|url)\d*$|^(path|root|file|dir|data)_?(path|root|dir|file|folder)"
)
MANY_PATHS = re.compile(r"(paths|roots|dirs|files|folders|filenames|file_list|filelist|path_list)$")
FUNCTION = re.compile(
    r"transform|augment|tokeniz|preprocess|(^|_)(aug|fn|func|function|callback|collate|hook|loader|processor)s?$"
)
NUMBER = re.compile(
    r"(^|_)(size|num|number|count|length|len|width|height|dim|dims|depth|resolution|steps?|epochs?|workers|seed|rank"
    r"|samples|frames|channels|classes|h|w|n|k|limit|stride|window|horizon|levels?|batch|offset|start|rate|fps)\d*$"
    r"|^(n|num|max|min|img|image|seq|batch)_|^(nsamples|batchsize|imgsize|imgh|imgw)$|_len(gth)?_",
    re.IGNORECASE,
)
FRACTION = re.compile(r"(^|_)(ratio|prob|probability|fraction|percent|percentage|p|alpha|beta|gamma|scale|threshold)$")
FLAG = re.compile(r"^(is|use|do|has|with|no|should|enable|disable|return|load|debug|verbose|shuffle|training|pad)(_|$)")
BUNDLE = re.compile(r"(config|cfg|conf|opts?|options|args|params|hparams|kwargs|settings|dict)$")
"""Stand for many values: what each of them is, its use tells."""
SPLIT = re.compile(r"(^|_)(split|mode|phase|subset|partition|stage)$")
TEXT = re.compile(r"(^|_)(name|key|prefix|suffix|text|caption|title|token|charset|alphabet|characters?|word|id|type)$")
SUFFIXES = (
    ("hdf5", ".hdf5"), ("h5", ".h5"), ("json", ".json"), ("csv", ".csv"), ("npz", ".npz"), ("npy", ".npy"),
    ("zip", ".zip"), ("tar", ".tar"), ("pkl", ".pkl"), ("pickle", ".pkl"), ("sqlite", ".db"), ("txt", ".txt"),
)  # fmt: skip
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"

Guess = Tuple[str, Any]
"""A kind, and a value or None."""


def guess(name: str) -> Optional[Guess]:
    """What an argument, an attribute or a key of this name is; None if the name does not say."""
    plain = name.lower()
    if not plain:
        return None
    if BUNDLE.search(plain):
        return None
    if FUNCTION.search(plain) and not MANY_PATHS.search(plain) and not TEXT.search(plain):
        return "identity", None
    if MANY_PATHS.search(plain):
        return "paths", None
    if SPLIT.search(plain):
        return "text", "train"
    if plain in ("device", "map_location"):
        return "text", "cpu"
    if re.search(r"charset|alphabet|^characters?$", plain):
        return "text", ALPHABET
    for pattern, kind, value in (
        (FLAG, "bool", False), (PATH, "path", None), (FRACTION, "float", 0.5), (NUMBER, "int", _number(plain)),
    ):  # fmt: skip
        if pattern.search(plain):
            return kind, value
    return None


def _number(name: str) -> int:
    if re.search(r"rank|seed|offset|start|(^|_)min", name):
        return 0
    if re.search(r"stride|step|rate|level|frameskip|channel|worker", name):
        return 1
    return COUNT


def suffix_of(name: str) -> str:
    """The ending that a made-up path of this name gets."""
    plain = name.lower()
    if re.search(r"(dir|root|folder|directory)$", plain):
        return ""
    return next((ending for word, ending in SUFFIXES if word in plain), "")


def annotated(text: str) -> Optional[Guess]:
    """What an annotation says, as source: ``str``, ``Optional[Callable]``, ``list[str]``; None if it does not say."""
    words: List[str] = re.findall(r"[A-Za-z_]\w*", text)
    kinds = [word for word in words if word not in ("Optional", "Union", "None", "typing", "t", "np", "torch")]
    first = kinds[0] if kinds else ""
    simple = {"int": ("int", None), "float": ("float", 0.5), "bool": ("bool", False), "str": ("text", None)}
    if first in simple:
        return simple[first]
    if first in ("Path", "PurePath", "PathLike", "PathLikeOrStr", "StrPath"):
        return "path", None
    if first in ("Callable", "Compose", "Transform"):
        return "identity", None
    return None
