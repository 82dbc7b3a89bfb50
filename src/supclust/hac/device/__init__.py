"""Torch kernels for tensors on any device: all blocks of a batch advance together."""
