"""Device kernels from the unknowns of an inversion to its objective."""

from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Matrix,
    Float64Tensor,
    Int32,
    Int32Array,
    wp,
)

_HALF = wp.constant(wp.float64(0.5))


@wp.func
def row_times(matrix: Float64Matrix, row: Int32, vectors: Float64Matrix, box: Int32) -> Float64:
    """A matrix row times one box's vector."""
    total = wp.float64(0.0)
    for k in range(matrix.shape[1]):
        total += matrix[row, k] * vectors[box, k]
    return total


@wp.kernel
def exponentiate(
    x: Float64Matrix,
    basis: Float64Matrix,
    widths: Float64Array,
    number: Float64Matrix,
):
    """Number in every bin of the unknowns; a width of zero marks a bin without particles."""
    b, i = wp.tid()
    if widths[i] > wp.float64(0.0):
        number[b, i] = wp.exp(row_times(basis, i, x, b)) * widths[i]


@wp.func
def gather(
    number: Float64Tensor,
    box: Int32,
    first: Int32,
    last: Int32,
    times: Int32Array,
    bins: Int32Array,
    weights: Float64Array,
) -> Float64:
    """The entries of one channel."""
    total = wp.float64(0.0)
    for entry in range(first, last):
        total += weights[entry] * number[times[entry], box, bins[entry]]
    return total


@wp.kernel
def observe(
    number: Float64Tensor,
    starts: Int32Array,
    times: Int32Array,
    bins: Int32Array,
    weights: Float64Array,
    predicted: Float64Matrix,
):
    """Numbers in the channels; launched over [boxes, channels]."""
    b, m = wp.tid()
    predicted[b, m] = gather(number, b, starts[m], starts[m + 1], times, bins, weights)


@wp.kernel
def subtract(predicted: Float64Matrix, measured: Float64Matrix, difference: Float64Matrix):
    """What is predicted less what was measured; launched over [boxes, channels]."""
    b, m = wp.tid()
    difference[b, m] = predicted[b, m] - measured[b, m]


@wp.kernel
def add_squares(
    matrix: Float64Matrix,
    vectors: Float64Matrix,
    strength: Float64Array,
    objective: Float64Array,
):
    """Half the strength times the square of every row times the vector; launched over [boxes, rows]."""
    b, p = wp.tid()
    value = row_times(matrix, p, vectors, b)
    wp.atomic_add(objective, b, _HALF * strength[b] * value * value)
