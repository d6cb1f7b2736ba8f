"""How FKL305 is proved: the program runs, and the threads that use the file are seen; the bus error needs a Mac."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from forklint.model import Finding
from forklint.source.paths import from_root, relative_to
from forklint.verify.experiments.base import Experimenter, inconclusive, last_line
from forklint.verify.subjects import NO_WAY_OUT, scripts_reaching
from forklint.verify.unreached import why_ended_early
from forklint.verify.words import Experiment, Factors, Judgement, Observation, Subject, Verdict

POOL = "the pool's tasks"
NEEDS_DARWIN = Judgement(Verdict.UNSUPPORTED, "needs darwin", "run forklint verify on a Mac", needs=("darwin",))


class ThreadsShareMemmap(Experimenter):
    """One trial: what it shows is a witness of the mechanism, so there is nothing to compare it with."""

    code = "FKL305"

    def plan(self, finding: Finding) -> Experiment | Judgement:
        """Run the entry, or a script that reaches the file."""
        context, path = self.context, from_root(Path(finding.path))
        entry = context.entry
        if not entry:
            project = context.project()
            found = next(scripts_reaching(path, context.scripts, project, b"Thread"), None)
            if found is None:
                return inconclusive(f"no script is known that reaches {path.name}:{finding.span.row}", NO_WAY_OUT)
            entry = (str(found),)
        subject = Subject("entry", entry, context.folder, environment=context.variables)
        spec = {**finding.proof, "file": str(path)}
        claim = f"several threads use `{finding.proof['name']}` at the same time"
        is_undecided = finding.proof["kind"] == "memmap" and context.environment.system != "darwin"
        needs = NEEDS_DARWIN.needs if is_undecided else ()
        trials = (self.trial(finding, subject, "thread_files", spec, Factors()),)
        return Experiment(finding, claim, trials, needs=needs)

    def judge(self, experiment: Experiment, observations: Sequence[Observation]) -> Judgement:
        """By a read after another's seek, or by who wrote."""
        (seen,) = observations
        if experiment.finding.proof["kind"] == "memmap":
            judged = self._mapped(seen)
        else:
            judged = self._handle(seen, experiment.finding.proof["kind"])
        if judged is not None:
            return judged
        ended = why_ended_early(seen, POOL)
        why = ended.evidence if ended else f"{POOL} did not reach it: {last_line(seen.output) or 'the program ended'}"
        return inconclusive(why, "pass a script that reaches it: forklint verify SCRIPT -- ARGS")

    def _mapped(self, seen: Observation) -> Judgement | None:
        writers = seen.of("writes")
        if not writers:
            return None
        place = relative_to(Path(writers[0]["place"]), self.context.root)
        if all(record["main"] for record in writers):
            return Judgement(Verdict.REFUTED, f"only the main thread writes at {place}")
        if len(writers) < 2:
            return inconclusive(f"one thread did all the work at {place}", "give it more tasks")
        witness = f"{len(writers)} threads write the mapped file at {place}"
        if self.context.environment.system != "darwin":
            return replace(NEEDS_DARWIN, evidence=f"needs darwin; here {witness}")
        if seen.ending.signal == "SIGBUS":
            return Judgement(Verdict.CONFIRMED, f"{witness}, and the program was killed by SIGBUS")
        return Judgement(Verdict.NOT_REPRODUCED, f"{witness}; no bus error in one run")

    def _handle(self, seen: Observation, kind: str) -> Judgement | None:
        for record in seen.of("crossed"):
            place = relative_to(Path(record["place"]), self.context.root)
            evidence = (
                f"at {place} a thread calls {record['name']}() after another one called seek, in {record['handle']}"
            )
            return Judgement(Verdict.CONFIRMED, evidence)
        users = seen.of("uses")
        if not users:
            return None
        handle, count = Counter(record["handle"] for record in users).most_common(1)[0]
        if count > 1:
            what = "lines mixed up" if kind == "text" else "seek of another thread in between"
            return Judgement(Verdict.NOT_REPRODUCED, f"{count} threads use {handle}; no {what}")
        if all(record["main"] for record in users):
            return Judgement(Verdict.REFUTED, f"only the main thread uses {handle}")
        return inconclusive(f"each file was used by one thread, {handle} too", "give the pool more tasks")
