"""Trials and lint on other machines, by Dask (``dask.distributed``): ``forklint verify --on``, ``forklint lint-many``.

client: ``slices`` (the files that travel) → ``placing`` (which machine) → ``cluster`` (the connection) → ``verifying``
and ``repositories``. worker: ``task`` (the only task there is) → ``task_runner`` → ``store`` (files by content) → the
supervisor of ``verify``, or ``lint_process``. ``unpickling`` limits what Dask may unpickle in all of these processes.
"""
