"""Generated data: real stores in place of missing ones, and values for missing arguments.

Their content is learned: passes over the dataset record how each value is used (``node``, ``unknown``, ``marked``),
until a sample can be read or nothing new is learned (``learning``). Then another process creates the stores
(``making``), and the real libraries open them (``places``).
"""
