"""What a notebook shows of an array: a line about it, its values and, if they look like pictures, the pictures."""
import base64
import html
import struct
import zlib

import torch

from .._ops.core.dtypes import NAME

SMALLEST, LARGEST = 8, 160         # sides of a picture: what is less is rather a kernel; more is shown smaller
MOST = 16                          # pictures of a batch


def describe(array, values):
    """The HTML of a dense array; `values` is how NumPy prints it."""
    tensor = array.materialize()
    shape = ' &times; '.join(str(n) for n in tensor.shape) or 'scalar'
    head = f'<code>{type(array).__name__}</code> {shape}, {NAME[tensor.dtype]}, {array._ctx}'
    text = f'<pre>{html.escape(str(values))}</pre>'
    pictures, note = thumbnails(tensor.detach())
    if not pictures:
        return f'<div>{head}{text}</div>'
    shown = ''.join(f'<img style="margin:1px;image-rendering:pixelated" width="{w}" height="{h}" '
                    f'src="data:image/png;base64,{base64.b64encode(data).decode()}"/>' for data, w, h in pictures)
    return (f'<div>{head}{f" ({note})" if note else ""}<div>{shown}</div>'
            f'<details><summary>values</summary>{text}</details></div>')


def thumbnails(tensor):
    """([(PNG, width, height)], remark) of a tensor that looks like pictures; ([], '') of any other."""
    pictures = _pictures(tensor)
    if pictures is None:
        return [], ''
    count = len(pictures)
    pictures = pictures[:MOST].cpu()
    step = max(1, -(-max(pictures.shape[1:3]) // LARGEST))
    pictures = pictures[:, ::step, ::step]
    notes = [f'the first {MOST} of {count}'] if count > MOST else []
    if pictures.dtype is not torch.uint8:
        pictures = pictures.float()
        low, high = pictures.min().item(), pictures.max().item()
        if not (low == low and high - low < float('inf')):           # NaN or infinite
            return [], ''
        if low < 0 or high > 255:
            notes.append(f'{low:.3g} is black, {high:.3g} white')
            pictures = (pictures - low) / max(high - low, 1e-12)
        elif high > 1:
            pictures = pictures / 255
        pictures = (pictures * 255).round().to(torch.uint8)
    enlarge = max(1, 64 // max(pictures.shape[1:3]))
    return [(png(p), p.shape[1] * enlarge, p.shape[0] * enlarge) for p in pictures], ', '.join(notes)


def _pictures(tensor):
    """(N, H, W, C) of what may be pictures, else None."""
    floating = tensor.dtype.is_floating_point
    if not (floating or tensor.dtype is torch.uint8) or not tensor.numel():
        return None
    if tensor.dim() == 2 and not floating:
        tensor = tensor[:, :, None]            # a matrix of floats is a matrix
    if tensor.dim() == 3:
        tensor = tensor[None]
    if tensor.dim() != 4:
        return None
    if tensor.shape[3] in (1, 3, 4) and min(tensor.shape[1:3]) >= SMALLEST:
        return tensor
    if tensor.shape[1] in (1, 3, 4) and min(tensor.shape[2:]) >= SMALLEST:
        return tensor.permute(0, 2, 3, 1)
    return None


def png(picture):
    """A picture (H, W, C) of bytes in the format PNG: grey, colours, or colours and opacity."""
    height, width, channels = picture.shape
    rows = b''.join(b'\0' + bytes(row.contiguous().view(-1).tolist()) for row in picture)
    kind = {1: 0, 3: 2, 4: 6}[channels]

    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, kind, 0, 0, 0))
            + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
