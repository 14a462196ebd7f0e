"""dpmm's MST and AIM on integer cells: rows, processor seconds and memory. Its cut-downs (iterations) are its own."""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM

arguments = json.loads(sys.argv[1])
folder = Path(arguments["folder"])
train = np.load(folder / "train.npy")
frame = pd.DataFrame({f"c{i}": train[:, i].astype(np.int64) for i in range(train.shape[1])})
domain = {f"c{i}": int(n) for i, n in enumerate(arguments["sizes"])}
began = time.process_time()
kind = {"mst": MSTGM, "aim": AIMGM}[arguments["method"]]
more = {"rounds": 40, "max_model_size": 8} if arguments["method"] == "aim" else {}
model = kind(epsilon=1.0, delta=1e-9, compress=False, n_iters=1000, n_jobs=1, **more)
model.set_random_state(np.random.RandomState(0))
model.set_domain(domain)
model.fit(frame)
drawn = model.generate(n_records=len(frame))[list(frame)].to_numpy()
took = time.process_time() - began
out = folder / f"{arguments['method']}.npy"
np.save(out, drawn.astype(np.int64))
print(json.dumps({"file": str(out), "seconds": took, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000}))
