"""Trustworthy gradients of NVIDIA Warp programs, and the past of an aerosol recovered with them."""
