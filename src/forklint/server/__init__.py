"""A language server: findings, fixes and explanations in editors, while people type.

Two threads share the work. The first one speaks the protocol and holds the texts that are open (``texts``); the second
one owns the projects (``analysis``), which are not to be used from two threads. ``schedule`` decides what is linted
next. A large project of which nothing is stored yet is read by a process of its own (``learning``), so that what that
takes of memory and time is not taken here.
"""
