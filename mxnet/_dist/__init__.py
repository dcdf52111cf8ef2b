"""Several processes as one job: who they are, how they exchange tensors, and how they are started."""
