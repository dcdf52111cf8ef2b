"""Files: where bytes come from and go to (`paths`), and the formats in them.

- `paths`: local and remote files, atomic writes.  Imports neither torch nor NumPy, so `mxnet.recordio` can use it.
- `params`: upstream's binary list of arrays (`.params`).
- `safetensors`: the way out to everybody else's tools.
- `pickles`: optimizer states, read without executing anything.
- `jsons`: JSON, with the place of what is wrong.
- `pictures`: what a picture declares, before it is decoded.
- `limits`: how much memory and work a file may ask for.

Nothing here knows of NDArray: the layers below turn records and tensors into arrays.
"""
