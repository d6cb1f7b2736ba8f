"""What each key of the configuration means: for ``forklint config``, and for docs/configuration.md."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from enum import Enum
from typing import Any

from forklint.config import Settings
from forklint.records import dataclass


@dataclass(frozen=True)
class Setting:
    """One key of ``[tool.forklint]``."""

    key: str
    type: str
    description: str
    """Markdown; the first sentence stands alone in lists."""
    example: str
    """TOML, as it is written in pyproject.toml below ``[tool.forklint]``, or with a header of its own."""
    unset: str = ""
    """What holds if the key is missing, where that is no fixed value."""

    @property
    def default(self) -> str:
        """What holds if the key is missing: a value as TOML, or words."""
        return self.unset or as_toml(getattr(Settings(), self.key.replace("-", "_")))

    @property
    def summary(self) -> str:
        """The first sentence of the description."""
        return self.description.partition(". ")[0].removesuffix(".") + "."

    @property
    def usage(self) -> str:
        """The example as it is written in pyproject.toml."""
        return self.example if self.example.startswith("[") else f"[tool.forklint]\n{self.example}"

    def to_text(self) -> str:
        """The description, default, type and example, as ``forklint config KEY`` prints them."""
        return (
            f"{textwrap.fill(self.description, 80)}\n\nDefault value: {self.default}\nType: {self.type}\n"
            f"Example usage:\n```toml\n{self.usage}\n```\n"
        )

    def to_dict(self) -> dict[str, str]:
        """The same as plain data."""
        return {
            "key": self.key,
            "description": self.description,
            "default": self.default,
            "type": self.type,
            "example": self.usage,
        }


RULES = "list of rule codes, prefixes or names"
SETTINGS = (
    Setting(
        "select",
        RULES,
        "Rules to enable. Prefixes such as `FKL3` select a group, `ALL` selects every rule. If a rule is both selected "
        "and ignored, the more specific selector wins; preview rules also need `preview`, or their full code.",
        'select = ["FKL2", "handle-in-init"]',
    ),
    Setting("ignore", RULES, "Rules to disable.", 'ignore = ["FKL401"]'),
    Setting(
        "extend-select",
        RULES,
        "Rules to enable in addition to `select`.",
        'extend-select = ["FKL602"]',
    ),
    Setting("extend-ignore", RULES, "Rules to disable in addition to `ignore`.", 'extend-ignore = ["FKL401"]'),
    Setting(
        "per-file-ignores",
        "table of patterns to lists of rules",
        "Rules to disable in files that match a pattern. Patterns are written as in a `.gitignore`, relative to the "
        "configuration file.",
        '[tool.forklint.per-file-ignores]\n"scripts/*" = ["FKL201"]',
    ),
    Setting(
        "exclude",
        "list of patterns",
        "Files and directories to exclude. Patterns are written as in a `.gitignore`, relative to the configuration "
        "file. Files that are passed on the command line are linted anyway, unless `force-exclude` is set.",
        'exclude = ["vendored/", "tests/data/"]',
    ),
    Setting(
        "force-exclude",
        "bool",
        "Exclude files even if they are passed on the command line, for example by pre-commit.",
        "force-exclude = true",
    ),
    Setting(
        "baseline",
        "path",
        "File with recorded findings, which are not reported. Relative to the configuration file; "
        "`--update-baseline` writes it.",
        'baseline = "forklint-baseline.json"',
        unset="none",
    ),
    Setting(
        "platforms",
        'list of "linux", "darwin", "windows"',
        "Platforms that the code runs on. Findings that only affect other platforms are not reported. `macos` is "
        "another name for `darwin`.",
        'platforms = ["linux", "darwin"]',
    ),
    Setting(
        "target-python",
        "version, range or specifier",
        "Python versions that the code runs on. They decide which start methods are used: fork on Linux up to Python "
        "3.13, and forkserver from 3.14 on.",
        'target-python = "3.10-3.13"',
        unset="`requires-python` in pyproject.toml, else 3.10 and newer",
    ),
    Setting(
        "target-torch",
        "version, range or specifier",
        "torch versions that the code is used with. What only newer versions reject is not reported.",
        'target-torch = ">=2.1"',
        unset="the newest version",
    ),
    Setting(
        "exit-on",
        '"info", "warning" or "error"',
        "Lowest severity that leads to exit code 1.",
        'exit-on = "error"',
    ),
    Setting("preview", "bool", "Enable preview rules.", "preview = true"),
    Setting(
        "cache-dir",
        "path",
        "Path to the cache directory, relative to the configuration file. `--cache-dir` and the environment variable "
        "`FORKLINT_CACHE_DIR` take precedence.",
        'cache-dir = ".cache/forklint"',
        unset=".forklint_cache in the root of each project",
    ),
    Setting(
        "handles",
        "list of tables",
        "Functions of your own that open handles, for FKL301. The keys are explained in "
        "`src/forklint/knowledge/handles.toml`.",
        "[[tool.forklint.handles]]\n"
        'call = ["ourlib.open_shard"]        # qualified names of the functions\n'
        'kind = "shard"                      # what the message calls it\n'
        'fork_effect = "workers read one cursor"\n'
        "spawn_effect = \"TypeError: cannot pickle 'Shard' object\"\n"
        'close = "close"                     # the method that closes it',
    ),
    Setting(
        "env-vars",
        "list of tables",
        "Environment variables that libraries of your own read on import, for FKL101. The keys are explained in "
        "`src/forklint/knowledge/env_vars.toml`.",
        "[[tool.forklint.env-vars]]\n"
        'name = "OURLIB_THREADS"\n'
        'modules = ["ourlib"]                # modules that read it when they are imported',
    ),
    Setting(
        "starters",
        "list of tables",
        "Functions and classes of your own that start processes, for FKL201 and others. The keys are explained in "
        "`src/forklint/knowledge/starters.toml`.",
        "[[tool.forklint.starters]]\n"
        'call = ["ourlib.ShardLoader"]       # qualified names\n'
        'how = "iterated"                    # or "called": when it starts processes\n'
        'workers = "num_workers"             # the parameter with the number of processes',
    ),
    Setting(
        "verify",
        "table with the keys `loaders`, `args`, `env` and `files`",
        "What `forklint verify` runs. `loaders` names functions that return a loader or a dataset, `args` their "
        "keyword arguments, and `env` environment variables for all trials. `files` are patterns for data that trials "
        "on other machines need (`--on`), relative to the project's root.",
        "[tool.forklint.verify]\n"
        'loaders = ["package.module:make_loader"]\n'
        'args = { root = "data/small" }\n'
        'env = { WANDB_MODE = "offline" }\n'
        'files = ["data/small/**/*"]',
    ),
)
"""All settings, in the order of the documentation; a test compares them with what config.py reads."""
BY_KEY: Mapping[str, Setting] = {one.key: one for one in SETTINGS}


def as_toml(value: Any) -> str:
    """A value of Settings as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {as_toml(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(as_toml(item) for item in value) + "]"
    return json.dumps(value.value if isinstance(value, Enum) else value)


def to_markdown() -> str:
    """All settings as sections of docs/configuration.md."""
    return "\n".join(
        f"### `{one.key}`\n\n{one.description}\n\n- Default: {_code(one)}\n- Type: {one.type}\n\n"
        f"```toml\n{one.usage}\n```\n"
        for one in SETTINGS
    )


def _code(setting: Setting) -> str:
    return setting.default if setting.unset else f"`{setting.default}`"
