"""Row operations in explicit vector instructions (LLVM through Numba)."""
