"""The shapes that most functions share, by the words of their axes; what one file alone has is written there."""

import numpy as np
from jaxtyping import Float, Int

ItemInts = Int[np.ndarray, " item"]
ItemFloats = Float[np.ndarray, " item"]
ModelFloats = Float[np.ndarray, " model"]
LabelInts = Int[np.ndarray, " label"]
LabelFloats = Float[np.ndarray, " label"]
RowInts = Int[np.ndarray, " row"]
RowFloats = Float[np.ndarray, " row"]
SomeInts = Int[np.ndarray, " some"]  # positions of some of them
TheseInts = Int[np.ndarray, " these"]
ChosenInts = Int[np.ndarray, " chosen"]
UnitFloats = Float[np.ndarray, " unit"]
ItemLabel = Float[np.ndarray, "item label"]
ModelItem = Float[np.ndarray, "model item"]
ModelItemLabel = Float[np.ndarray, "model item label"]
