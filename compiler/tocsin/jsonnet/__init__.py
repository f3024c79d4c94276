"""Jsonnet that somebody else wrote, evaluated in a process of its own that can read one folder and do nothing else.

`evaluate` takes a program and gives the value that it comes to, or a RefusedError that says why there is none and
where. An import that leaves the folder, also through a link, is refused; there are no native functions and no external
variables; stack, time, memory and output are bounded. The process gets no environment, writes no file and starts
nothing: what a hostile program can do is to fail.

`jsonnet`, the C++ implementation, is used rather than `gojsonnet`: its memory can be bounded by the address space, of
which Go's runtime reserves more than it uses.
"""

from tocsin.jsonnet.sandbox import Evaluated, Limits, RefusedError, evaluate

__all__ = ["Evaluated", "Limits", "RefusedError", "evaluate"]
