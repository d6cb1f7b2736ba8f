"""What one file imports, as its summary says: the edges of the import graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from forklint.summaries.parts import EXPORTS
from forklint.summaries.summary import STAR, Import

if TYPE_CHECKING:
    from forklint.project.index import Project

PACKAGE = "__init__.py"


class Edges:
    """Answers for the files of one project, one by one."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def of(self, path: Path) -> dict[Path, None]:
        """The project files that a file may import directly, in the order in which it names them, its package first."""
        resolver = self.project.resolver
        own = resolver.find(path, "", level=1)  # a file of a package runs the package, though it does not say so
        found: dict[Path, None] = {own: None} if own is not None else {}
        named: dict[tuple[int, str], list[str]] = {}
        for one in self.project.imports(path):
            attributes = named.setdefault((one.level, one.module), [])
            if one.attribute:
                attributes.append(one.attribute)
        for (level, module), attributes in named.items():
            start, relative = resolver.start(path, level), level > 0
            *packages, last = self._modules(start, module, relative=relative)
            found.update((one, None) for one in (*packages, last) if one is not None)
            for attribute in attributes if last is None or last.name == PACKAGE else ():
                found.update(dict.fromkeys(self._parts(start, module, last, attribute, relative=relative)))
        found.pop(path, None)
        return found

    def _modules(self, start: str, module: str, *, relative: bool) -> tuple[Path | None, ...]:
        """The packages on the way to a module, as importing ``a.b`` runs ``a`` first, and it itself, as far as ours."""
        key = (start, module, relative)
        find = lambda: tuple(self._find_modules(start, module, relative=relative))  # noqa: E731 - it is short
        return self.project.answer("modules on the way", key, find, compared=True)

    def _find_modules(self, start: str, module: str, *, relative: bool) -> Iterator[Path | None]:
        resolver, parts = self.project.resolver, module.split(".") if module else []
        if not relative and not resolver.has(start, parts[0]):
            yield None
            return
        for length in range(0 if relative else 1, len(parts) + 1):
            yield resolver.find_from(start, ".".join(parts[:length]), relative=relative)

    def _parts(
        self, start: str, module: str, package: Path | None, attribute: str, *, relative: bool
    ) -> Iterator[Path]:
        """Give the modules of a package that a statement may import from it by a name, or all that its stars name."""
        resolver = self.project.resolver
        if package is None:
            top = module.partition(".")[0]
            if relative or resolver.has(start, top):  # a folder without ``__init__.py``
                found = resolver.find_from(start, f"{module}.{attribute}".strip("."), relative=relative)
                yield from [found] if found is not None else []
            return
        for name in self.exports(package) if attribute == STAR else (attribute,):
            found = resolver.find_from(str(package.parent), name, relative=True)
            yield from [found] if found is not None else []

    def exports(self, path: Path) -> tuple[str, ...]:
        """The names in ``__all__`` where it is written out: a star runs the modules among them."""

        def find() -> tuple[str, ...]:
            summary = self.project.part(path, EXPORTS)
            return tuple(sorted(summary.exports or ())) if summary is not None else ()

        return self.project.answer("names in __all__", path, find, compared=True)

    def named(self, path: Path, one: Import) -> tuple[Path | None, ...]:
        """The files that one import of a file names."""
        start, relative = self.project.resolver.start(path, one.level), one.level > 0
        modules = self._modules(start, one.module, relative=relative)
        if not one.attribute or (modules[-1] is not None and modules[-1].name != PACKAGE):
            return modules
        return (*modules, *self._parts(start, one.module, modules[-1], one.attribute, relative=relative))
