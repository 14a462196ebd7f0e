"""Opacus' logistic regression and a small network on Adult: AUC on new rows and processor seconds, at ε = 1."""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from opacus import PrivacyEngine
from sklearn.metrics import roc_auc_score

warnings.filterwarnings("ignore")
arguments = json.loads(sys.argv[1])
with np.load(Path(arguments["folder"]) / "rows.npz") as kept:
    t = dict(kept)
seen, unseen = (torch.tensor(t[n], dtype=torch.float32) for n in ("ones", "new_ones"))
labels = torch.tensor(t["labels"], dtype=torch.float32)
width = seen.shape[1]
EPOCHS, BATCH = 20, 2048
rows = []
for name, make in (
    ("logistic", lambda: torch.nn.Linear(width, 1)),
    ("network of 16", lambda: torch.nn.Sequential(torch.nn.Linear(width, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))),
):
    areas, took = [], []
    for _ in range(3):
        began = time.process_time()
        model = make()
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(seen, labels), batch_size=BATCH)
        optimiser = torch.optim.SGD(model.parameters(), lr=2.0)
        private, optimiser, loader = PrivacyEngine(accountant="prv").make_private_with_epsilon(
            module=model,
            optimizer=optimiser,
            data_loader=loader,
            target_epsilon=1.0,
            target_delta=arguments["delta"],
            epochs=EPOCHS,
            max_grad_norm=1.0,
        )
        for _ in range(EPOCHS):
            for x, y in loader:
                optimiser.zero_grad()
                loss = torch.nn.functional.binary_cross_entropy_with_logits(private(x)[:, 0], y)
                loss.backward()
                optimiser.step()
        took.append(time.process_time() - began)
        with torch.no_grad():
            areas.append(roc_auc_score(t["truth"], private(unseen)[:, 0].numpy()))
    rows.append({"what": f"Opacus, {name}, ε = 1", "AUC": float(np.mean(areas)), "processor s": float(np.mean(took))})
    print(json.dumps({"rows": rows}), flush=True)
