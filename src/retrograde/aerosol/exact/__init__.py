"""Exact solutions of the coagulation equation, their moments and their exact gradients."""

from retrograde.aerosol.exact.additive import AdditiveSolution
from retrograde.aerosol.exact.base import ExactSolution, ExponentialStart
from retrograde.aerosol.exact.constant import ConstantGrowthSolution, ConstantSolution
from retrograde.aerosol.exact.diluted import DilutedMoments, DilutedSolution, slowed_time
from retrograde.aerosol.exact.finite import (
    PoissonMeans,
    additive_counts,
    additive_number,
    constant_counts,
    constant_number,
    constant_square,
    product_counts,
    product_number,
)
from retrograde.aerosol.exact.mixing import mixing_state_index
from retrograde.aerosol.exact.moments import (
    AdditiveMoments,
    ConstantMoments,
    MomentEvolution,
    MomentGradients,
    Moments,
    ProductMoments,
)
from retrograde.aerosol.exact.monodisperse import additive_kmers, constant_kmers, product_kmers
from retrograde.aerosol.exact.product import ProductSolution

__all__ = [
    "AdditiveMoments",
    "AdditiveSolution",
    "ConstantGrowthSolution",
    "ConstantMoments",
    "ConstantSolution",
    "DilutedMoments",
    "DilutedSolution",
    "ExactSolution",
    "ExponentialStart",
    "MomentEvolution",
    "MomentGradients",
    "Moments",
    "PoissonMeans",
    "ProductMoments",
    "ProductSolution",
    "additive_counts",
    "additive_kmers",
    "additive_number",
    "constant_counts",
    "constant_kmers",
    "constant_number",
    "constant_square",
    "mixing_state_index",
    "product_counts",
    "product_kmers",
    "product_number",
    "slowed_time",
]
