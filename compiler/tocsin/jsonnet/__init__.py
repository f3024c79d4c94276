"""Jsonnet that somebody else wrote, evaluated in a process of its own that can read one folder and do nothing else.

`evaluate` takes a program and gives the value that it comes to, or a RefusedError that says why there is none and
where. An import that leaves the folder, also through a link, is refused; there are no native functions and no external
variables; stack, time, memory and output are bounded. The process gets no environment, writes no file and starts
nothing: what a hostile program can do is to fail.

`jsonnet`, the implementation in C++, ends at the limits of the process, and a test says so for each way to exceed them.
`gojsonnet` 0.22 has the same functions and is three times faster (480 rules with formatted expressions: 1.8 s of a
processor against 6.2 s), but what its runtime does at these limits is not proven here.
"""

from tocsin.jsonnet.sandbox import Evaluated, Limits, RefusedError, evaluate

__all__ = ["Evaluated", "Limits", "RefusedError", "evaluate"]
