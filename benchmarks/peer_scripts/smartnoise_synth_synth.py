"""smartnoise-synth's MST and AIM on integer cells: rows, processor seconds and memory."""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from snsynth import Synthesizer

arguments = json.loads(sys.argv[1])
folder = Path(arguments["folder"])
train = np.load(folder / "train.npy")
names = [f"c{i}" for i in range(train.shape[1])]
frame = pd.DataFrame({n: train[:, i].astype(np.int64) for i, n in enumerate(names)})
began = time.process_time()
made = Synthesizer.create(arguments["method"], epsilon=1.0, delta=1e-9)
made.fit(frame, categorical_columns=names, preprocessor_eps=0.0)
drawn = made.sample(len(frame))[names].astype(np.int64).to_numpy()
took = time.process_time() - began
out = folder / f"{arguments['method']}.npy"
np.save(out, drawn)
print(json.dumps({"file": str(out), "seconds": took, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000}))
