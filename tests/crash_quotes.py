"""Messages that Linux without a GPU cannot be made to print, as the sources that the table names have them."""

from __future__ import annotations

QUOTES = {
    "cannot-fork": "OSError: [Errno 12] Cannot allocate memory\n"
    "libgomp: Thread creation failed: Resource temporarily unavailable\n"
    "OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 64: Resource temporarily unavailable",
    "corefoundation-fork": "The process has forked and you cannot use this CoreFoundation functionality safely. "
    "You MUST exec().\nBreak on __THE_PROCESS_HAS_FORKED_AND_YOU_CANNOT_USE_THIS_COREFOUNDATION_FUNCTIONALITY___"
    "YOU_MUST_EXEC__() to debug.",
    "cuda-after-fork": "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
    "multiprocessing, you must use the 'spawn' start method",
    "cuda-initialization": "RuntimeError: CUDA error: initialization error\n"
    "CUDA kernel errors might be asynchronously reported at some other API call",
    "cuda-invalid-device": "RuntimeError: CUDA error: invalid device ordinal",
    "cuda-kernel-failed": "RuntimeError: CUDA error: device-side assert triggered",
    "cuda-out-of-memory": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 23.69 GiB of which 1.06 GiB is free.",
    "cuda-sharing": "[W CudaIPCTypes.cpp:16] Producer process has been terminated before all shared CUDA tensors "
    "released. See Note [Sharing CUDA tensors]",
    "cuda-tensor-pinned": "RuntimeError: cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    "gnu-openmp-fork": "Terminating: fork() called from a process already using GNU OpenMP, this is unsafe.",
    "grpc-fork": "I0000 00:00:1700000000.000000 4242 fork_posix.cc:75] Other threads are currently calling into gRPC, "
    "skipping fork() handlers",
    "jax-fork": "RuntimeWarning: os.fork() was called. os.fork() is incompatible with multithreaded code, and JAX is "
    "multithreaded, so this will likely lead to a deadlock.",
    "macos-fork-crash": "Application Specific Information:\n*** multi-threaded process forked ***\n"
    "crashed on child side of fork pre-exec",
    "macos-bad-access": "Exception Type:        EXC_BAD_ACCESS (SIGSEGV)\n"
    "Exception Codes:       KERN_INVALID_ADDRESS at 0x0000000000000110",
    "mkl-threading-layer": "Error: mkl-service + Intel(R) MKL: MKL_THREADING_LAYER=INTEL is incompatible with "
    "libgomp-a34b3233.so.1 library.",
    "mongo-fork": "UserWarning: MongoClient opened before fork. May not be entirely fork-safe, proceed with caution.",
    "multithreaded-fork": "DeprecationWarning: This process (pid=4242) is multi-threaded, use of fork() may lead to "
    "deadlocks in the child.",
    "numba-fork": "Numba: Attempted to fork from a non-main thread, the TBB library may be in an invalid state in the "
    "child process.",
    "numpy-mismatch": "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.1.0 as it may crash.",
    "objc-fork": "objc[4242]: +[__NSCFConstantString initialize] may have been in progress in another thread when "
    "fork() was called. We cannot safely call it or ignore it in the fork() child process. Crashing instead.",
    "openmp-broken": "OMP: Error #13: Assertion failure at kmp_runtime.cpp(6593).",
    "openmp-twice": "OMP: Error #15: Initializing libiomp5.dylib, but found libomp.dylib already initialized.",
    "out-of-memory-killer": "[12345.678] Out of memory: Killed process 4242 (python) total-vm:123456kB, "
    "anon-rss:98765kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1kB oom_score_adj:0",
    "pin-memory-thread-gone": "RuntimeError: Pin memory thread exited unexpectedly",
    "python-quit-unexpectedly": "Python quit unexpectedly.",
    "segfault-in-cuda": "[12345.678] python[4242]: segfault at 0 ip 00007f00dead sp 00007ffc00 error 4 in "
    "libcuda.so.550.54.14[7f0000000000+400000]",
    "segfault-in-hdf5": "[12345.678] pt_data_worker[4242]: segfault at 10 ip 00007f00dead sp 00007ffc00 error 4 in "
    "libhdf5-a1b2.so.310.2.0[7f0000000000+400000] likely on CPU 3",
    "segfault-in-lmdb": "[12345.678] pt_main_thread[4242]: segfault at 7f00 ip 00007f00dead sp 00007ffc00 error 4 in "
    "liblmdb.so.0.0.0[7f0000000000+14000]",
    "segfault-in-openmp": "[12345.678] python[4242]: segfault at 8 ip 00007f00dead sp 00007ffc00 error 6 in "
    "libgomp-a34b3233.so.1[7f0000000000+30000]",
    "shared-memory-manager": 'RuntimeError: torch_shm_manager at "/opt/torch/bin/torch_shm_manager": could not '
    "generate a random directory for manager socket",
    "terminate-called": "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error",
    "tls-misread": "psycopg2.OperationalError: SSL error: decryption failed or bad record mac",
    "tokenizers-after-fork": "huggingface/tokenizers: The current process just got forked, after parallelism has "
    "already been used. Disabling parallelism to avoid deadlocks...",
    "windows-access-violation": "Windows fatal exception: access violation",
    "windows-paging-file": "OSError: [WinError 1455] The paging file is too small for this operation to complete. "
    'Error loading "C:\\torch\\lib\\caffe2_detectron_ops.dll" or one of its dependencies.',
}
"""By the name of their row."""

ENDINGS = {
    "zsh: bus error  easy-oww train hello": "SIGBUS",
    "zsh: segmentation fault  python train.py": "SIGSEGV",
    "Segmentation fault (core dumped)": "SIGSEGV",
    "./run.sh: line 3:  4242 Killed                  python train.py": "SIGKILL",
    "bash: line 1:  4242 Aborted                 (core dumped) python train.py": "SIGABRT",
    "[1]    4242 bus error  python train.py": "SIGBUS",
    "Fatal Python error: Segmentation fault": "SIGSEGV",
    "Exception Type:        EXC_BAD_ACCESS (SIGSEGV)": "SIGSEGV",
    "Exception Type:    EXC_BAD_ACCESS (SIGBUS)": "SIGBUS",
    "  exitcode  : -11 (pid: 4242)": "SIGSEGV",
    "traceback : Signal 9 (SIGKILL) received by PID 4242": "SIGKILL",
    "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGSEGV": "SIGSEGV",
    "subprocess.CalledProcessError: Command '['python']' died with <Signals.SIGBUS: 7>.": "SIGBUS",
    "Error: Process completed with exit code 139.": "SIGSEGV",
    "training process died with return code -11": "SIGSEGV",
    "Process finished with exit code -1073741819 (0xC0000005)": "SIGSEGV",
    "make: *** [train] Error 1": "",
    "exit code 1": "",
    "Killed the old checkpoint": "",
    "Sending process 4242 closing signal SIGTERM": "",
    "[12345.678] python[4242]: segfault at 0 ip 00007f sp 00007f error 4 in python3.11[55+1]": "SIGSEGV",
    "[12345.678] Memory cgroup out of memory: Killed process 4242 (python) total-vm:1kB": "SIGKILL",
}
"""Lines, and the signal that each tells of."""
