"""Random programs with one fault inside a kernel, and their right twins; the truth is the kernels read as Python."""
