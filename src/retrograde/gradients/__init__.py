"""Four gradients of one program: consumed, taped, ideal, reference."""
