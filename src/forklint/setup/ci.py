"""Continuous integration: a workflow for GitHub Actions, or a job in .gitlab-ci.yml.

A workflow is a file of its own; a job is added to the end of the file, which stays the same byte for byte otherwise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from forklint.config import ConfigError
from forklint.setup.proposal import Project, Proposal, line_end, read
from forklint.setup.yaml_events import Events, end_of, is_event, parse, signature

WORKFLOWS = Path(".github", "workflows")
GITLAB = ".gitlab-ci.yml"
NAMED = "forklint"
WORKFLOW = """\
name: forklint
on: [push, pull_request]
jobs:
  forklint:
    runs-on: ubuntu-latest
    steps:
      - uses: {checkout}
      - uses: {setup_python}
        with:
          python-version: "3.12"
      - run: python -m pip install forklint
      - run: forklint --output-format github .
"""
ACTIONS = {"checkout": "actions/checkout@v5", "setup_python": "actions/setup-python@v6"}
"""The actions of the workflow, unless other workflows of the repository use other versions of them."""
JOB = """\
forklint:
  image: python:3.12
  script:
    - python -m pip install forklint
    - forklint --output-format gitlab --output-file gl-code-quality-report.json .
  artifacts:
    when: always
    reports:
      codequality: gl-code-quality-report.json
"""
STAGE = "test"
"""GitLab's default stage of a job."""
FITTING = ("lint", "quality", "check", "static", "verify")
"""Words in the name of a stage that a linter belongs to."""


def propose(project: Project) -> Iterator[Proposal]:
    """Propose a change for each service that the repository uses; raises ConfigError if a file cannot be read."""
    if project.repository is None:
        return
    if (project.repository / WORKFLOWS.parent).is_dir():
        yield _workflow(project.repository / WORKFLOWS)
    if (project.repository / GITLAB).exists():
        yield _job(project.repository / GITLAB)


def _workflow(folder: Path) -> Proposal:
    """A new workflow, unless one of those that exist runs forklint."""
    texts = {path: there[1] for path in sorted(folder.glob("*.y*ml")) if (there := read(path))}
    for path, text in texts.items():
        if NAMED in text:
            return Proposal(path, note="already runs forklint; not changed")
    used = {name: _most_used(action, texts.values()) for name, action in ACTIONS.items()}
    return Proposal(folder / f"{NAMED}.yml", after=WORKFLOW.format(**used).encode())


def _most_used(action: str, texts: Iterable[str]) -> str:
    """The version of an action that other workflows use most, with its comment; else the action as it is."""
    name = action.partition("@")[0]
    pattern = re.compile(rf"^\s*-?\s*uses:\s*({re.escape(name)}@\S+(?:[ \t]+#[^\n]*)?)", re.MULTILINE)
    found = Counter(match.strip() for text in texts for match in pattern.findall(text))
    return found.most_common(1)[0][0] if found else action


def _job(path: Path) -> Proposal:
    """A job at the end of the file, in a stage that exists."""
    before, text = read(path) or (b"", "")
    if NAMED in text:
        return Proposal(path, before, note="already runs forklint; not changed")
    try:
        events = parse(text)
    except ValueError as error:
        raise ConfigError(f"{path}: not valid YAML: {error}; fix it, or pass --no-ci") from None
    job = _job_for(events)
    end = line_end(text)
    gap = "" if text.endswith("\n") else end
    after = text + gap + end + job.replace("\n", end)
    if not _adds_a_job(after, events, job):
        return Proposal(path, before, by_hand=job)
    return Proposal(path, before, after.encode())


def _job_for(events: Events) -> str:
    """The job, indented as the file is, with a stage if the default one does not exist."""
    stages = _stages(events)
    job = JOB
    if stages and STAGE not in stages:
        stage = next((one for one in stages if any(word in one.lower() for word in FITTING)), stages[0])
        job = job.replace("  image:", f"  stage: {stage}\n  image:")
    columns = [event.start_mark.column for event in events if is_event(event, "MappingStart")]
    width = min((column for column in columns if column), default=2)
    return re.sub(r"^( +)", lambda match: match[1] * 2, job, flags=re.MULTILINE) if width == 4 else job


def _stages(events: Events) -> list[str]:
    """The stages that the file defines, in order."""
    top = _top(events)
    if top is None:
        return []
    for key, value in _entries(events, top):
        if events[key].value == "stages" and is_event(events[value], "SequenceStart"):
            return [str(one.value) for one in events[value : end_of(events, value)] if is_event(one, "Scalar")]
    return []


def _top(events: Events) -> int | None:
    """The number of the event that begins the mapping of the only document."""
    if sum(is_event(event, "DocumentStart") for event in events) != 1:
        return None
    index = next((i for i, event in enumerate(events) if is_event(event, "DocumentStart")), -1) + 1
    return index if is_event(events[index], "MappingStart") and not events[index].flow_style else None


def _entries(events: Events, top: int) -> Iterator[tuple[int, int]]:
    """The events with which keys and values of a mapping begin, for keys that are scalars."""
    index = top + 1
    while not is_event(events[index], "MappingEnd"):
        value = end_of(events, index) + 1
        if is_event(events[index], "Scalar"):
            yield index, value
        index = end_of(events, value) + 1


def _adds_a_job(text: str, before: Events, job: str) -> bool:
    """Whether a text has the same content as before, with the job as the last entry."""
    top = _top(before)
    if top is None:
        return False
    try:
        after = signature(parse(text))
    except ValueError:
        return False
    old, place = signature(before), end_of(before, top)
    return after == [*old[:place], *signature(parse(job))[3:-3], *old[place:]]
