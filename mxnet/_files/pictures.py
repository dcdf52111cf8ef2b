"""What a picture declares, read from its first bytes, before OpenCV takes memory for it.

OpenCV believes headers: 48 bytes can make it take gigabytes.  Here are the sizes that each of its formats declares; a
format that is not among them is left to OpenCV, which then has to know it by more than its header.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import Any

from mxnet._files import limits
from mxnet.base import MXNetError

__all__ = ["Damaged", "check", "decode", "kind_of", "size_of"]

_PNG = b"\x89PNG\r\n\x1a\n"
_DEFLATE = 1032  # what a byte unpacks to, at most
_CHUNK = 8_000_000  # what libpng unpacks of one chunk, at most
_JP2 = b"\0\0\0\x0cjP  \r\n\x87\n"


class Damaged(MXNetError):
    """A picture that cannot be decoded, whatever the limits are."""


class _Cut(Exception):
    """The bytes end in the header, or the header is none; says what is wrong."""


def kind_of(data: bytes | memoryview) -> str:
    """'PNG', 'JPEG', ...; '' for what is none of the formats here."""
    head = bytes(data[:32])
    for begin, name in (
        (b"\xff\xd8\xff", "JPEG"), (_PNG, "PNG"), (b"BM", "BMP"), (b"GIF87a", "GIF"), (b"GIF89a", "GIF"),
        (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"), (b"II+\0", "TIFF"), (b"MM\0+", "TIFF"),
        (b"\x59\xa6\x6a\x95", "Sun raster"),
        (b"#?RGBE", "HDR"), (b"#?RADIANCE", "HDR"), (_JP2, "JPEG 2000"), (b"\xff\x4f\xff\x51", "JPEG 2000"),
    ):  # fmt: skip
        if head.startswith(begin):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    if head[4:8] == b"ftyp":
        return "AVIF"
    if re.match(rb"P[1-7]\s", head):
        return "PNM"
    return "PFM" if re.match(rb"P[Ff]\s", head) else ""


def size_of(data: bytes | memoryview) -> tuple[str, int, int]:
    """(format, width, height) as the header has it; ('', 0, 0) if it has none that is known."""
    kind = kind_of(data)
    if not kind:
        return "", 0, 0
    try:
        width, height, _ = _HEADERS[kind](memoryview(data))
    except (_Cut, struct.error, IndexError, ValueError, OverflowError):
        return kind, 0, 0
    return kind, width, height


def check(data: Any, where: str) -> None:
    """Refuses a picture that declares more than its bytes may ask for, or whose header is damaged."""
    view = memoryview(data)
    kind = kind_of(view)
    if not kind:
        return
    try:
        width, height, cost = _HEADERS[kind](view)
    except _Cut as error:
        raise Damaged(f"{where}: the {kind} picture is damaged: {error}") from None
    except (struct.error, IndexError, ValueError, OverflowError):
        raise Damaged(f"{where}: the {kind} picture is damaged: its {len(view)} bytes end in the header") from None
    limits.check(width * height * cost, len(view), where, f"a picture of {width} x {height} pixels ({kind})")
    if kind == "PNG":
        _check_packed(view, where)


def decode(data: Any, flag: int, where: str) -> Any:
    """The pixels of a picture, or None if OpenCV knows no such format; `data` is an array of uint8."""
    import cv2

    check(data, where)
    try:
        return cv2.imdecode(data, flag)
    except (cv2.error, MemoryError) as error:
        raise Damaged(f"{where}: OpenCV cannot decode the picture: {_said(error)}") from None


def _said(error: BaseException) -> str:
    """What OpenCV has to say, without the place in its sources."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    text = " ".join((getattr(error, "err", None) or "").split())
    # what an assertion says is a condition in OpenCV's sources
    return text if " " in text and not re.search("[<>=&|]", text) else "its contents contradict its header"


# ---- headers: -> (width, height, bytes that decoding takes per pixel at its peak) -----------------------------------
# OpenCV hands out a copy of what it decodes, so a pixel of three bytes takes six.


def _png(view: memoryview) -> tuple[int, int, int]:
    width = height = cost = 0
    at = len(_PNG)
    while at + 8 <= len(view):
        length, name = struct.unpack_from(">I4s", view, at)
        if length > len(view) - at - 8:
            raise _Cut(f"the chunk {name!r} at byte {at} says that {length} bytes follow, but there are "
                       f"{len(view) - at - 8}")
        if name == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", view, at + 8)
            cost = {4: 4, 6: 4}.get(colour, 3) * (2 if depth == 16 else 1) * 2
        elif not cost:
            raise _Cut(f"it begins with the chunk {name!r}, not with IHDR")
        elif name == b"fcTL":  # a frame of a moving picture
            frame = struct.unpack_from(">II", view, at + 12)
            if frame[0] > width or frame[1] > height:
                raise _Cut(f"the frame at byte {at} has {frame[0]} x {frame[1]} pixels, more than the picture")
            cost = max(cost, 24)
        if name == b"IEND":
            break
        at += 12 + length
    if not cost:
        raise _Cut(f"its {len(view)} bytes end in the header")
    return width, height, cost


def _check_packed(view: memoryview, where: str) -> None:
    """Compares what the chunks besides the pixels unpack to with the allowance: libpng unpacks each of them.

    The pixels (IDAT) need no such look: unpacking ends with the last row.
    """
    packed, at = [], len(_PNG)
    while at + 8 <= len(view):
        length, name = struct.unpack_from(">I4s", view, at)
        if name == b"IEND":
            break
        if name in (b"zTXt", b"iTXt", b"iCCP"):
            start = _packed_from(name, bytes(view[at + 8 : at + 8 + min(length, 1024)]))
            packed.append((at, name.decode(), view[at + 8 + start : at + 8 + length]))
        at += 12 + length
    room = limits.allowance(len(view))
    if sum(min(_DEFLATE * len(data), _CHUNK) for _, _, data in packed) <= room:
        return
    total = 0
    for at, name, data in packed:  # most chunks are far from what they could unpack to
        stream, rest = zlib.decompressobj(), bytes(data)
        made = 0
        try:
            while made < _CHUNK and not stream.eof and (piece := stream.decompress(rest, 1 << 20)):
                made, rest = made + len(piece), stream.unconsumed_tail
        except zlib.error:
            pass  # which libpng notices, too
        total += made
        if total > room:
            limits.check(total, len(view), where,
                         f"what the text and profile chunks of the PNG picture, up to {name} at byte {at}, unpack to")


def _packed_from(name: bytes, head: bytes) -> int:
    """Where the packed bytes of a chunk begin: behind its keyword, its method and, in iTXt, two more texts."""
    end = head.find(b"\0")
    if end < 0:
        return len(head)
    if name != b"iTXt":
        return end + 2
    if head[end + 1 : end + 2] != b"\1":
        return 1 << 31  # as it is, not packed
    language = head.find(b"\0", end + 3)
    translated = head.find(b"\0", language + 1) if language >= 0 else -1
    return translated + 1 if translated >= 0 else len(head)


def _jpeg(view: memoryview) -> tuple[int, int, int]:
    found = None
    at = 2
    while at + 4 <= len(view):
        if view[at] != 0xFF:  # decoders look for the next mark, and so must we
            at += 1
            continue
        mark = view[at + 1]
        if mark == 0xFF:
            at += 1
        elif mark in (0, 1) or 0xD0 <= mark <= 0xD8:
            at += 2
        elif mark in (0xD9, 0xDA):
            break
        else:
            if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
                if found is not None:
                    raise _Cut(f"there is a second frame at byte {at}")
                height, width, parts = struct.unpack_from(">HHB", view, at + 5)
                # a progressive picture is there as coefficients, too
                found = width, height, max(parts, 3) * (2 if mark % 4 == 1 or mark == 0xC0 else 4)
                progressive = mark % 4 == 2
            at += 2 + int.from_bytes(view[at + 2 : at + 4], "big")
    if found is None:
        raise _Cut("there is no frame with its size")
    width, height, cost = found
    if progressive:
        scans = bytes(view).count(b"\xff\xda")
        # each scan goes over the whole picture, however few bytes it has: 64 pixels take about as long as one byte
        cost = max(cost, scans // 64)
    return width, height, cost


def _bmp(view: memoryview) -> tuple[int, int, int]:
    (size,) = struct.unpack_from("<I", view, 14)
    width, height = struct.unpack_from("<HH" if size == 12 else "<ii", view, 18)
    return abs(width), abs(height), 8


def _gif(view: memoryview) -> tuple[int, int, int]:
    width, height = struct.unpack_from("<HH", view, 6)
    return width, height, 14


def _sun(view: memoryview) -> tuple[int, int, int]:
    width, height = struct.unpack_from(">ii", view, 4)
    return abs(width), abs(height), 8


def _webp(view: memoryview) -> tuple[int, int, int]:
    kind = bytes(view[12:16])
    if kind == b"VP8X":
        if len(view) < 30:
            raise _Cut("its bytes end in the header")
        width, height = (int.from_bytes(view[i : i + 3], "little") + 1 for i in (24, 27))
        inner = _inner_webp(view)
        return max(width, inner[0]), max(height, inner[1]), 16
    return (*_webp_frame(view, 12), 10)


def _inner_webp(view: memoryview) -> tuple[int, int]:
    """The largest width and height of the frames in an extended file."""
    width = height = at = 0
    data = bytes(view)
    for name in (b"VP8 ", b"VP8L"):
        at = data.find(name, 30)
        while at >= 0:
            try:
                found = _webp_frame(view, at)
                width, height = max(width, found[0]), max(height, found[1])
            except (_Cut, struct.error, OverflowError):
                pass
            at = data.find(name, at + 4)
    return width, height


def _webp_frame(view: memoryview, at: int) -> tuple[int, int]:
    kind = bytes(view[at : at + 4])
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", view, at + 14)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", view, at + 9)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    raise _Cut(f"there is {kind!r} where VP8 should be")


def _hdr(view: memoryview) -> tuple[int, int, int]:
    found = re.search(rb"\n\s*-Y\s+(\d{1,9})\s+\+X\s+(\d{1,9})", bytes(view[:4096]))
    if found is None:
        raise _Cut("there is no line with its size, -Y ... +X ...")
    return int(found[2]), int(found[1]), 26


def _pnm(view: memoryview) -> tuple[int, int, int]:
    text = bytes(view[:4096])
    if text[1:2] == b"7":
        fields = {name: int(number) for name, number in re.findall(rb"(WIDTH|HEIGHT|DEPTH|MAXVAL)\s+(\d{1,9})", text)}
        if b"WIDTH" not in fields or b"HEIGHT" not in fields:
            raise _Cut("there is no WIDTH or no HEIGHT")
        return fields[b"WIDTH"], fields[b"HEIGHT"], 4 * max(3, fields.get(b"DEPTH", 3))
    numbers = re.findall(rb"\d{1,9}", re.sub(rb"#[^\n]*", b"", text[2:]))
    if len(numbers) < 2:
        raise _Cut("there is no width or no height")
    return int(numbers[0]), int(numbers[1]), 14


def _pfm(view: memoryview) -> tuple[int, int, int]:
    numbers = re.findall(rb"\d{1,9}", bytes(view[2:256]))
    if len(numbers) < 2:
        raise _Cut("there is no width or no height")
    return int(numbers[0]), int(numbers[1]), 26


def _jpeg2000(view: memoryview) -> tuple[int, int, int]:
    at = bytes(view).find(b"\xff\x4f\xff\x51")
    if at < 0:
        raise _Cut("there is no codestream")
    _, _, x, y, x0, y0, tile_x, tile_y, _, _, parts = struct.unpack_from(">HHIIIIIIIIH", view, at + 4)
    if x <= x0 or y <= y0 or not tile_x or not tile_y:
        raise _Cut(f"the codestream at byte {at} has no pixels")
    tiles = -(-x // tile_x) * -(-y // tile_y)
    if tiles > 65535:
        raise _Cut(f"the codestream at byte {at} has {tiles} tiles, more than the format has numbers for")
    return x - x0, y - y0, 4 * parts + 8


def _avif(view: memoryview) -> tuple[int, int, int]:
    data, width, height = bytes(view), 0, 0
    at = data.find(b"ispe")
    while at >= 0 and at + 16 <= len(data):
        found = struct.unpack_from(">II", data, at + 8)
        width, height = max(width, found[0]), max(height, found[1])
        at = data.find(b"ispe", at + 4)
    if not width or not height:
        raise _Cut("there is no size (ispe)")
    return width, height, 24


def _tiff(view: memoryview) -> tuple[int, int, int]:
    order = "<" if view[0] == 0x49 else ">"
    big = view[2 if order == "<" else 3] == 43
    (at,) = struct.unpack_from(order + ("Q" if big else "I"), view, 8 if big else 4)
    (count,) = struct.unpack_from(order + ("Q" if big else "H"), view, at)
    entry, head = (20, 8) if big else (12, 2)
    if count * entry > len(view) - at - head:
        raise _Cut(f"the directory at byte {at} says that it has {count} entries, more than there are bytes for")
    tags = {}
    for i in range(count):
        place = at + head + i * entry
        tag, kind = struct.unpack_from(order + "HH", view, place)
        layout = {1: "B", 3: "H", 4: "I", 16: "Q"}.get(kind)
        if layout and tag in (256, 257, 258, 277, 278, 322, 323):
            value = place + (12 if big else 8)
            (many,) = struct.unpack_from(order + ("Q" if big else "I"), view, place + 4)
            if many * struct.calcsize(layout) > (8 if big else 4):  # the values stand elsewhere, all of them alike
                (value,) = struct.unpack_from(order + ("Q" if big else "I"), view, value)
            tags[tag] = struct.unpack_from(order + layout, view, value)[0]
    if 256 not in tags or 257 not in tags:
        raise _Cut(f"the directory at byte {at} has no width or no height")
    width, height = tags[256], tags[257]
    cost = max(3, tags.get(277, 1)) * max(1, -(-max(tags.get(258, 1), 1) // 8)) * 4
    # tiles may be larger than the picture that is cut out of them
    return max(width, tags.get(322, 0)), max(height, tags.get(323, 0)), cost


_HEADERS = {
    "AVIF": _avif, "BMP": _bmp, "GIF": _gif, "HDR": _hdr, "JPEG": _jpeg, "JPEG 2000": _jpeg2000, "PFM": _pfm,
    "PNG": _png, "PNM": _pnm, "Sun raster": _sun, "TIFF": _tiff, "WebP": _webp,
}  # fmt: skip
