"""Rows and columns in the chains of findings, found again in files whose comments or layout have changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from forklint.model import FileReport, Link
from forklint.project.module import Module


def with_places(report: FileReport, module_at: Callable[[str], Module | None]) -> FileReport:
    """A report whose links point where their nodes stand now.

    ``module_at`` gives the module of a path as it is now, with the tree that it had, or None if nothing moved there.
    Raises LookupError for a node that is not there.
    """
    if not any(finding.chain for finding in report.findings):
        return report
    chains = (tuple(_placed(link, module_at) for link in finding.chain) for finding in report.findings)
    pairs = zip(report.findings, chains, strict=True)
    return replace(report, findings=tuple(replace(finding, chain=chain) for finding, chain in pairs))


def _placed(link: Link, module_at: Callable[[str], Module | None]) -> Link:
    module = module_at(link.path) if link.node >= 0 and link.notebook_cell is None else None
    return module.link(module.nodes[link.node], link.message) if module is not None else link
