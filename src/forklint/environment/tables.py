"""The tables of what is known of environment variables, for one project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forklint.knowledge.environment import Environment

if TYPE_CHECKING:
    from forklint.project.index import Project


def environment_of(project: Project) -> Environment:
    """The tables with the project's own rows."""
    return project.answer("tables of the environment", "", lambda: Environment(project.settings.env_vars))
