"""FKL301 where there is no data: the class alone, made-up arguments, real stores, and the fix as the control."""

from __future__ import annotations

from pathlib import Path

import pytest
from needed import need_torch
from proven import Proof, environment, prove

from forklint.config import Settings
from forklint.engine import Linter, Options
from forklint.model import Finding
from forklint.project.index import Project
from forklint.verify.experiments.base import Context
from forklint.verify.experiments.handle_in_init import HandleInInit
from forklint.verify.words import Ending, Experiment, Observation

need_torch()
pytestmark = pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="passes run in forked processes")
HEAD = """
import io, os, pickle
import torch
from torch.utils.data import DataLoader, Dataset
"""
RECORDS = """
class Records(Dataset):
    def __init__(self, path, vocabulary):
        self.file = open(path, "rb")
        self.count = os.path.getsize(path) // 400
        self.vocabulary = vocabulary{more}

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        self.file.seek(index * 400)
        return self.vocabulary.get("x", 0), self.file.read(400)

def loader(options, words):
    return DataLoader(Records(options.path, words), num_workers=4)
"""
LMDB = """
import lmdb

class Images(Dataset):
    def __init__(self, root, transform):
        self.env = lmdb.open(root, readonly=True, lock=False)
        self.transform = transform{more}
        with self.env.begin() as transaction:
            self.length = int(transaction.get(b"length"))

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        with self.env.begin() as transaction:
            return self.transform(pickle.loads(transaction.get(b"%06d" % index))["features"].reshape(4, -1))

def loader(root, transform):
    return DataLoader(Images(root, transform), num_workers=4)
"""


def finding_in(folder: Path, text: str, code: str = "FKL301") -> Finding:
    (folder / "data.py").write_text(text)
    found = Linter(Project(folder, Settings()), Options()).lint(folder / "data.py").findings
    return next(one for one in found if one.code == code)


def proof_of(folder: Path, text: str, method: str, code: str = "FKL301") -> Proof:
    workers = 1 if method == "spawn" else 2  # one is enough to be sent something, and each imports torch
    return prove(finding_in(folder, text, code), folder, start_methods=(method,), workers=workers)


def test_a_shared_offset_is_confirmed_without_data(tmp_path: Path) -> None:
    proof = proof_of(tmp_path, HEAD + RECORDS.format(more=""), "fork")
    words = proof.judgement.evidence
    assert proof.verdict() == "confirmed", words
    assert "samples differ from the control" in words
    assert "with the fix no harm" in words
    assert "generated: a file, `path`, `vocabulary`" in words
    codes = [seen.trial.factors.code for seen in proof.observations]
    assert codes[-1] == "with the fix", "the control of the harm ran last"
    assert list(tmp_path.iterdir()) == [tmp_path / "data.py"], "nothing was written into the project"


@pytest.mark.soak
def test_an_environment_that_cannot_be_sent_is_confirmed_without_data(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    pytest.importorskip("numpy")
    proof = proof_of(tmp_path, HEAD + LMDB.format(more=""), "spawn")
    words = proof.judgement.evidence
    assert proof.verdict() == "confirmed", words
    assert "cannot pickle 'Environment' object (dataset.env); with the fix no harm" in words
    assert "an LMDB environment" in words


@pytest.mark.soak
def test_without_a_fix_each_process_is_given_a_handle_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    pytest.importorskip("numpy")
    more = "\n        self.transaction = self.env.begin()"
    finding = finding_in(tmp_path, HEAD + LMDB.format(more=more))
    proof = prove(Finding(**{**vars(finding), "fixes": ()}), tmp_path, start_methods=("spawn",))
    assert proof.verdict() == "confirmed", proof.judgement.evidence
    assert "with a separate handle in each process no harm" in proof.judgement.evidence


@pytest.mark.soak
def test_what_another_part_causes_is_not_confirmed(tmp_path: Path) -> None:
    """A lambda that cannot be sent, either: the error is there with the handle mended, too."""
    proof = proof_of(tmp_path, HEAD + RECORDS.format(more="\n        self.key = lambda one: one"), "spawn")
    assert proof.verdict() == "inconclusive", proof.judgement.evidence
    assert "with the fix, too" in proof.judgement.evidence


TWO = """
class Words:
    def __init__(self, path):
        self.lines = open(path, "rb")
        self.index = open(path, "rb")

    def word(self, index):
        self.lines.seek(index * 8)
        return self.lines.read(8)

class Records(Dataset):
    def __init__(self, path, word_path):
        self.file = open(path, "rb")
        self.words = Words(word_path){more}

    def __len__(self):
        return 32

    def __getitem__(self, index):
        self.file.seek(index * 400)
        return self.words.word(index), self.file.read(400)

def loader(options):
    return DataLoader(Records(options.path, options.words), num_workers=4)
"""


@pytest.mark.soak
@pytest.mark.parametrize("fixes", [True, False])
def test_another_handle_is_separate_in_both_trials_of_a_pair(tmp_path: Path, fixes: bool) -> None:
    """With the finding mended, another handle cannot be sent, either: a further pair differs in the finding alone."""
    (tmp_path / "data.py").write_text(HEAD + TWO.format(more=""))
    found = Linter(Project(tmp_path, Settings()), Options()).lint(tmp_path / "data.py").findings
    finding = next(one for one in found if one.proof["attributes"] == ("file",))
    finding = finding if fixes else Finding(**{**vars(finding), "fixes": ()})
    proof = prove(finding, tmp_path, start_methods=("spawn",), workers=1)
    words = proof.judgement.evidence
    how = "with the fix" if fixes else "with a separate handle in each process"
    assert proof.verdict() == "confirmed", words
    assert f"(dataset.file); {how}, other handles separate no harm" in words
    assert "other handles separate: the dataset cannot be pickled for a worker" in words


@pytest.mark.soak
def test_another_part_that_is_no_handle_stays_in_the_way(tmp_path: Path) -> None:
    more = "\n        self.key = lambda one: one"
    finding = finding_in(tmp_path, HEAD + TWO.format(more=more))
    proof = prove(finding, tmp_path, start_methods=("spawn",), workers=1)
    assert proof.verdict() == "inconclusive", proof.judgement.evidence


@pytest.mark.soak
def test_clean_trials_refute_nothing(tmp_path: Path) -> None:
    """LMDB under fork: made-up stores show no harm, and none of that speaks for the real ones."""
    pytest.importorskip("lmdb")
    pytest.importorskip("numpy")
    proof = proof_of(tmp_path, HEAD + LMDB.format(more=""), "fork")
    assert proof.verdict() == "not reproduced", proof.judgement.evidence
    assert "workers that did not open it" in proof.judgement.evidence


@pytest.mark.soak
def test_a_dataset_with_state_of_its_own_is_not_confirmed_by_samples(tmp_path: Path) -> None:
    """A counter and a file: samples differ under workers, and they do so without the handle."""
    text = RECORDS.replace(
        "self.file.seek(index * 400)", "self.count_of_reads = getattr(self, 'count_of_reads', 0) + 1"
    )
    text = text.replace("self.file.read(400)", "self.count_of_reads, self.file.name")
    proof = proof_of(tmp_path, HEAD + text.format(more=""), "fork")
    assert proof.verdict() == "inconclusive", proof.judgement.evidence


def test_a_store_that_real_data_would_not_be_like_says_nothing(tmp_path: Path) -> None:
    more = "\n        if self.file.read(4) != b'FKLT':\n            raise ValueError('no file of ours')"
    proof = proof_of(tmp_path, HEAD + RECORDS.format(more=more), "fork")
    assert proof.verdict() == "inconclusive"
    assert "no sample can be read from generated data: ValueError: no file of ours" in proof.judgement.evidence


@pytest.mark.soak
def test_a_handle_that_other_arguments_would_open_is_not_refuted(tmp_path: Path) -> None:
    """What decides whether it is opened is given the value that opens it."""
    text = RECORDS.replace("path, vocabulary)", "path, vocabulary, in_memory=True)").replace(
        'self.file = open(path, "rb")',
        'self.data = b""\n        if not in_memory:\n            self.file = open(path, "rb")',
    )
    text = text.replace("options.path, words)", "options.path, words, options.in_memory)")
    proof = proof_of(tmp_path, HEAD + text.format(more=""), "fork")
    assert proof.verdict() == "confirmed", proof.judgement.evidence


BASED = """
from missing_base import Base

class Records(Base, Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")

    def __len__(self):
        return 9

    def __getitem__(self, index):
        return self.file.read(4)

def loader(path):
    return DataLoader(Records(path), num_workers=4)
"""


@pytest.mark.soak
def test_no_verdict_through_a_class_that_is_not_there(tmp_path: Path) -> None:
    proof = proof_of(tmp_path, HEAD + BASED, "fork")
    assert proof.verdict() == "inconclusive", proof.judgement.evidence
    assert (
        "the object in question is replaced by a stand-in: missing_base.Base, a base of Records"
        in proof.judgement.evidence
    )


DRAWS = """
import numpy as np

class Words(Dataset):
    def __init__(self, word_file, lengths):
        self.words = open(word_file).read().splitlines()
        self.lengths = lengths
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.words)

    def __getitem__(self, index):
        return self.words[index], self.rng.random() * self.lengths["most"]

def loader(options, lengths):
    return DataLoader(Words(options.words, lengths), num_workers=4)
"""


@pytest.mark.soak
def test_a_generator_is_proved_without_data(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    proof = proof_of(tmp_path, HEAD + DRAWS, "fork", "FKL302")
    assert proof.verdict() == "confirmed", proof.judgement.evidence
    assert "with the fix none did" in proof.judgement.evidence


CROPS = """
import numpy as np

class Crops(Dataset):
    def __init__(self, settings, corners):
        self.corners = corners
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        rows = [np.float32([1.0, 2.0]), np.float32([index, 3.0, 5.0])]
        {before}
        shift = self.rng.random()
        return {sample}

def loader(settings, corners):
    return DataLoader(Crops(settings, corners), num_workers=4)
"""
FAILING = "matrix = np.array(rows, dtype=np.float32)"


@pytest.mark.soak
def test_a_statement_that_fails_on_made_up_data_is_passed_over(tmp_path: Path) -> None:
    """Nothing that is made up gets a sample through, and the draw is no part of what fails."""
    pytest.importorskip("numpy")
    text = CROPS.format(before=FAILING, sample="matrix, shift")
    proof = proof_of(tmp_path, HEAD + text, "fork", "FKL302")
    words = proof.judgement.evidence
    assert proof.verdict() == "confirmed", words
    assert "with the fix none did" in words
    row = next(number for number, line in enumerate((HEAD + text).splitlines(), start=1) if FAILING in line)
    assert f"statements that fail on it are skipped: data.py:{row}" in words


@pytest.mark.soak
def test_what_the_program_raises_itself_is_not_passed_over(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    text = CROPS.format(
        before='if len(rows[0]) != len(rows[1]):\n            raise ValueError("no crop")', sample="shift"
    )
    proof = proof_of(tmp_path, HEAD + text, "fork", "FKL302")
    assert proof.verdict() == "inconclusive", proof.judgement.evidence
    assert "no sample can be read from generated data: ValueError: no crop" in proof.judgement.evidence


UNREADABLE = """
class Records(Dataset):
    def __init__(self, path):
        self.file = open(path, "rb")
        self.places = []{more}

    def __len__(self):
        return len(self.places)

    def __getitem__(self, index):
        if self.file.read(4) != b"FKLT":
            raise ValueError("no file of ours")
        return self.file.read(4)

def loader(path):
    return DataLoader(Records(path), num_workers=4)
"""


@pytest.mark.soak
@pytest.mark.parametrize("places", ["", "\n        self.places = [1, 2, 3]"])
def test_what_cannot_be_sent_is_seen_before_any_sample(tmp_path: Path, places: str) -> None:
    """No sample comes out of generated data, with a check that nobody can guess, or none at all."""
    proof = proof_of(tmp_path, HEAD + UNREADABLE.format(more=places), "spawn")
    words = proof.judgement.evidence
    assert proof.verdict() == "confirmed", words
    assert "cannot pickle '_io.BufferedReader' object (dataset.file); with the fix it is sent" in words
    assert "no sample can be read from generated data" in words


@pytest.mark.soak
def test_without_samples_nothing_else_is_confirmed(tmp_path: Path) -> None:
    """What fails in forked workers fails on the data; a handle that is left out when it is sent does no harm."""
    more = "\n        self.places = [1, 2, 3]"
    proof = proof_of(tmp_path, HEAD + UNREADABLE.format(more=more), "fork")
    assert proof.verdict() == "inconclusive", proof.judgement.evidence
    state = "\n\n    def __getstate__(self):\n        return {**self.__dict__, 'file': None}"
    finding = finding_in(tmp_path, HEAD + UNREADABLE.format(more=more))
    (tmp_path / "data.py").write_text(HEAD + UNREADABLE.format(more=more + state))
    proof = prove(finding, tmp_path, start_methods=("spawn",))
    assert proof.verdict() == "inconclusive", proof.judgement.evidence


@pytest.mark.soak
def test_without_samples_another_part_that_cannot_be_sent_is_no_proof(tmp_path: Path) -> None:
    more = "\n        self.places = [1, 2, 3]\n        self.key = lambda one: one"
    proof = proof_of(tmp_path, HEAD + UNREADABLE.format(more=more), "spawn")
    assert proof.verdict() == "inconclusive", proof.judgement.evidence
    assert "with the fix, too" in proof.judgement.evidence


def test_a_race_is_sought_last_and_for_less_where_sending_has_decided(tmp_path: Path) -> None:
    pytest.importorskip("lmdb")
    finding = finding_in(tmp_path, HEAD + LMDB.format(more=""))
    context = Context(tmp_path, Settings(), environment(), start_methods=("fork", "spawn"))
    experimenter = HandleInInit(context)
    planned = experimenter.plan(finding)
    assert isinstance(planned, Experiment)
    made = next(one for one in planned.attempts if one.is_tolerant)
    assert [trial.factors.start_method for trial in made.trials] == [None, "spawn", "fork"]
    spawned, forked = made.trials[1:]
    refused = {"kind": "unpicklable", "path": "dataset.env", "type": "TypeError", "text": "cannot pickle"}
    unsent = experimenter.informed(forked, [Observation(spawned, Ending(0), (refused,))])
    assert unsent.spec["reads"] < forked.spec["reads"]
    assert (forked.side_by_side, unsent.side_by_side) == (False, True)
    assert experimenter.informed(forked, [Observation(spawned, Ending(0))]).spec["reads"] == forked.spec["reads"]
