"""The cache: tables of rows by key, in one SQLite file for each project.

``database`` is the interface. Below it are ``disk`` (the files, and who has them open), ``tables`` (one database) and
``git_index``; ``folder`` says where the files lie. What the rows mean is for the callers to say: ``identity``,
``stamps`` and ``rows`` help them with that.

Why SQLite. Measured on two cores with Python 3.11 and ext4, at the size of transformers: 5,000 summaries of 7.5 kB,
5,000 stamps of 0.1 kB, 5,000 lists of 2 kB, and 150,000 rows of 20 bytes that say where a word is used; milliseconds:

==================================  ======  ==========================  ================
what                                SQLite  a file for each summary,    one file of JSON
                                            and JSON for all the rest
==================================  ======  ==========================  ================
write all                              800                         430               500
open, read 1 summary                   0.6                         0.1               290
open, read 50 summaries                1.0                         0.6               290
read 5,000 summaries                    43                          55               290
read 5,000 stamps                        7                           1               290
read 500 rows of words                   5                          58               290
a hook: replace 30 rows, 100 words       3                         250               790
==================================  ======  ==========================  ================

Files are as fast for summaries, but an edit must change rows of an index, in one step with what they rest on, and a
hook cannot rewrite 10 MB for that. To import ``sqlite3`` takes 3 ms, so that is done when there is a file to open.

- **Log.** A write-ahead log lets runs read while one writes. ``synchronous = NORMAL``: a process that is killed loses
  nothing that it committed, as the system has it already; when the power fails, the last commits may be lost, but what
  is there is whole. ``OFF`` would save 5 ms for each commit, and after a power failure a page could be half-written.
  Where processes cannot share memory (NFS), there is a rollback journal instead.
- **Checksums.** Each row has the CRC-32 of its table, key and value, 0.2 us for a row. (BLAKE2 takes 1.5 times as long
  and would keep out no more: whoever forges a row can forge its digest.) So damage is found in whatever is read. What
  cannot be found is that a row is missing: damage between the rows can hide some (of 12,000 single bits flipped in
  files of 250 kB, 0.4 % did). Whoever concludes something from the absence of a row must store rows that are never
  absent.
- **No compression.** With zlib at level 1 the file is 39 MB instead of 69, but to write takes 0.3 s more, and to read
  all summaries 150 ms instead of 43.
- **Pages** of 4 kB, and tables with a rowid: larger pages, or tables without one, make no difference to speak of.
"""
