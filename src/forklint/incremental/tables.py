"""The tables of a store, and what each holds."""

from __future__ import annotations

META = "meta"
"""``revision``: how often something that had changed was written; ``ids``: the paths that terms name by number."""
FILES = "files"
"""By path: the revision since when it is so, its stamp, the digest of its content."""
TEXTS = "texts"
"""By digest: Python texts, compressed, so that an edit can be compared part by part with what was there before."""
SUMMARIES = "summaries"
"""By digest: summaries."""
SEEN = "seen"
"""What else was asked of the disk: ``files`` and ``presets`` (walks), ``folders`` (listings), ``paths``, ``sought``."""
TERMS = "terms"
"""By kind and name: the numbers of the files that have the term. Empty, or complete."""
CHANGES = "changes"
"""By revision: the facts that changed with it."""
REPORTS = "reports"
"""By variant and path: the revision in which it was found to hold, and the report."""
RESTS = "rests"
"""By variant and path: the numbers of the facts and groups that the report rests on (see ``project.rests``)."""
GROUPS = "groups"
"""By number: facts and groups that many reports rest on together."""
ALL = (META, FILES, TEXTS, SUMMARIES, SEEN, TERMS, CHANGES, REPORTS, RESTS, GROUPS)
EVICTABLE = (TEXTS, SUMMARIES, GROUPS)
"""What the store may drop to make room: all that rests on it is then found again."""
