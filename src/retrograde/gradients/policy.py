"""What a sweep does with each launch, and which properties of the ideal it does without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from retrograde.gradients.binding import Blind
from retrograde.gradients.memory import Memory
from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import Key
from retrograde.trace.extents import Extent
from retrograde.trace.operations import Operation
from retrograde.trace.usage import Path

Float = npt.NDArray[np.float64]


class Moment(Enum):
    """Which contents a launch's adjoint needs of the arrays that the launch both reads and writes."""

    AFTER = "after the launch"
    BEFORE = "before the launch"


class Cure(Protocol):
    """A twin of a kernel whose adjoint is what that of the kernel should be."""

    @property
    def labels(self) -> frozenset[str]:
        """Identities of the faults that the twin is without."""
        ...

    @property
    def counts(self) -> bool:
        """Whether the kernel counts: what it left of its counters was lost when the program ran backward."""
        ...

    def adjoint(
        self,
        operation: Operation,
        memory: tuple[Memory, Memory],
        shadow: Memory,
        left: frozenset[str],
        blind: Blind | None = None,
    ) -> None:
        """Run the adjoint of a launch.

        Takes the contents before it and those that it reads of arrays that it does not write, the shadow, the
        faults to leave in, and which arrays have no adjoint.
        """
        ...


@dataclass(frozen=True, eq=False)
class Treatment:
    """How the adjoint of one launch is to be run.

    Attributes:
        moment: Contents of arrays both read and written.
        by_array: Exceptions by path of argument.
        vjp: A replacement of the adjoint: takes the launch, the contents before it and the shadow.
        reasons: Constructs that explain why the recorded adjoint is wrong, where `vjp` replaces it.
        hinges: Whether, with `vjp`, the recorded adjoint depends on the moment of the contents that it gets.
        cure: A twin to run in place of the kernel.
        disbelieved: Whether a recorded function is left out, because it is not the adjoint of what it stands for.
        assigned: Arrays whose gradient a recorded function sets; it is added to what was there instead.
        label: Identity of that fault.
        passed: Whether the launch's own derivative test passed; None where it was not made.
        discrepancy: Relative discrepancy that the test found with the recorded adjoint.
    """

    moment: Moment = Moment.AFTER
    by_array: Mapping[Path, Moment] = field(default_factory=dict[Path, Moment])
    vjp: Callable[[Operation, Memory, Memory], None] | None = None
    reasons: tuple[Rewrite, ...] = ()
    hinges: bool = False
    cure: Cure | None = None
    disbelieved: bool = False
    assigned: tuple[ArrayRef, ...] = ()
    label: str = ""
    passed: bool | None = None
    discrepancy: float = 0.0
    route: str = ""


@dataclass(frozen=True)
class Policy:
    """Which properties of the ideal gradient are switched off.

    Attributes:
        stale: Call sites whose writes are not undone: later readers in reverse see what they left.
        stale_own: Call sites of launches whose own writes are not undone for their own adjoint.
        blind: Array objects that have no adjoint: identity, and whether it concerns the array in structs.
        uncleared: Call sites of fills that do not end the adjoint of what they overwrite.
        tapes: The only tapes whose operations take part, beside those off any tape; None for all.
        leftovers: Backward passes that start from the gradients found in other buffers than the targets'.
        repeats: Whether backward passes from a loss that an earlier one began with already count once more.
        plain_adjoint: Operation indices of launches whose own adjoint is used although a better one is known.
        skipped: Call sites of operations left out.
        unrecorded: Call sites of operations left out where no tape recorded them.
        disabled: Kernels built without a backward pass that get none, by key.
        kept: Array objects whose adjoint is passed on by a store but stays where it is (`retain_grad`).
        joined: Memory whose adjoint lies where that of other memory lies (arrays that share one gradient buffer).
        replacing: Call sites of copies whose adjoint replaces that of the source instead of adding to it.
        late: Operations before which the objective is read that is yet seeded only where backward began.
        again: Tapes whose operations from before the window are run backward once more after it.
        cuts: Operations before which the adjoint of some memory is lost.
        lent: Pairs of launches: the second one's adjoint is run on the contents that the first one saw.
        echoed: Likewise, but only where these are not what they had been, for want of undoing.
        unlinked: Call sites where values that come from outside are constants.
        faults: Faults of kernels and recorded functions, by their labels, that are left in.
        omitted: Operations left out, by index: something else is their adjoint, or nothing.
        severed: Arguments of launches that have no adjoint, by operation index and path.
    """

    stale: frozenset[Key] = frozenset()
    stale_own: frozenset[Key] = frozenset()
    blind: frozenset[tuple[int, bool]] = frozenset()
    uncleared: frozenset[Key] = frozenset()
    tapes: frozenset[int] | None = None
    leftovers: frozenset[int] = frozenset()
    repeats: bool = False
    plain_adjoint: frozenset[str] = frozenset()
    skipped: frozenset[Key] = frozenset()
    unrecorded: frozenset[Key] = frozenset()
    disabled: frozenset[str] = frozenset()
    kept: frozenset[int] = frozenset()
    joined: frozenset[tuple[Extent, int]] = frozenset()
    replacing: frozenset[Key] = frozenset()
    late: frozenset[int] = frozenset()
    again: frozenset[int] = frozenset()
    cuts: frozenset[tuple[int, Extent]] = frozenset()
    lent: frozenset[tuple[int, int]] = frozenset()
    echoed: frozenset[tuple[int, int]] = frozenset()
    unlinked: frozenset[Key] = frozenset()
    faults: frozenset[str] = frozenset()
    omitted: frozenset[int] = frozenset()
    severed: frozenset[tuple[int, Path]] = frozenset()

    def without(self, **changes: Any) -> Policy:
        """A copy with some properties changed."""
        return replace(self, **changes)


IDEAL = Policy()
