"""Helpers of the tests around a simulated fleet: a spec for it, servers that watch it, and what stands for others."""
