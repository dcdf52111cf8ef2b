"""Gradients in one or two bits a number, with what was left out kept for the next one (error feedback)."""
import struct

import torch

from .._names import kind_of
from ..base import MXNetError

__all__ = ['Compression']

ACCEPTED = "{'type': '2bit', 'threshold': a number above 0} or {'type': '1bit', 'threshold': a number}"

# a word of the codes of one byte, and the number that it is multiplied with
_WORDS = {1: torch.int64, 2: torch.int32}
_FACTORS = {1: 0x8040201008040201 - 2**64, 2: 1 << 30 | 1 << 20 | 1 << 10 | 1}


class Compression:
    """How gradients are rounded before they travel.

    - 2bit: what has gathered becomes `threshold`, `-threshold` or 0;
    - 1bit: 1 where it is above `threshold`, else -1.

    What a number loses is added to the next one of the same place.
    """

    def __init__(self, params):
        if not isinstance(params, dict):
            raise AssertionError(f'set_gradient_compression takes a dict, {ACCEPTED}, not {kind_of(params)}')
        self.kind = params.get('type')
        try:
            threshold = float(params.get('threshold', 0.5))
        except (TypeError, ValueError):
            threshold = float('nan')
        positive = threshold > 0 if self.kind == '2bit' else threshold == threshold
        if self.kind not in ('1bit', '2bit') or not positive:
            raise MXNetError(f'set_gradient_compression takes {ACCEPTED}, not {params}')
        # a float32, as the gradients: 0.3 must meet a threshold of 0.3
        self.threshold = struct.unpack('f', struct.pack('f', threshold))[0]
        self.residuals = {}
        self._tables = {}               # device: the numbers of each byte

    def round(self, place, gradient):
        """What is sent for a gradient; `place` (key, device) tells whose rest is added and kept."""
        if gradient.dtype != torch.float32:
            raise MXNetError(f'push: gradients of {gradient.dtype} cannot be compressed, only float32 ones')
        rest = self.residuals.get(place)
        gathered = gradient.clone() if rest is None else rest.add_(gradient)
        if self.kind == '2bit':
            sent = (gathered >= self.threshold).to(torch.float32)
            sent -= (gathered <= -self.threshold).to(torch.float32)
            sent *= self.threshold
        else:
            sent = (gathered > self.threshold).to(torch.float32).mul_(2).sub_(1)
        self.residuals[place] = gathered.sub_(sent)
        return sent

    # ------------------------------------------------------------------ bytes
    @property
    def _bits(self):
        return 2 if self.kind == '2bit' else 1

    def packed_size(self, numbers):
        """How many bytes `pack` makes."""
        per_byte = 8 // self._bits
        return -(-numbers // per_byte)

    def pack(self, sent):
        """A flat tensor of what `round` gave as bytes; the first number is in the highest bits.

        Two bits: 11 is the threshold, 10 its negative, 00 is 0.  One bit: 1 is 1, 0 is -1.
        """
        sent = sent.reshape(-1)
        per_byte = 8 // self._bits
        codes = sent.new_zeros(self.packed_size(sent.numel()) * per_byte, dtype=torch.uint8)
        if self._bits == 2:
            codes[:sent.numel()] = (sent != 0).to(torch.uint8).mul_(2).add_(sent > 0)
        else:
            codes[:sent.numel()] = sent > 0
        # the product moves each code to its place in the highest byte; no two terms of it share a bit
        words = codes.view(_WORDS[self._bits]) * _FACTORS[self._bits]
        return (words >> (56 if self._bits == 1 else 24)).to(torch.uint8)

    def unpack(self, packed, numbers):
        """The `numbers` float32 that were packed."""
        bits = self._bits
        found = self._tables.get(packed.device)
        if found is None:
            # what each byte stands for
            shifts = torch.arange(8 - bits, -1, -bits)
            codes = (torch.arange(256)[:, None] >> shifts) & (3 if bits == 2 else 1)
            values = torch.tensor([0, 0, -self.threshold, self.threshold] if bits == 2 else [-1.0, 1.0])
            found = self._tables[packed.device] = values[codes].to(packed.device)
        return found.index_select(0, packed.to(torch.int32)).view(-1)[:numbers]
