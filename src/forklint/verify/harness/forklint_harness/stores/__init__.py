"""Real stores for data that is not there, and values for arguments that nobody gives.

What is in them is learnt: passes over the dataset record what is asked of each value (``node``, ``unknown``,
``marked``), until a sample comes out or nothing new is learnt (``learning``). Then another process makes the stores
(``making``), and the real libraries open them (``places``).
"""
