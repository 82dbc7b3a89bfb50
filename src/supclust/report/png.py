"""Grey pictures as PNG data URIs, so that a page can hold them."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from supclust.data.block import ByteArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = 2  # each row is stored as its difference from the row above: faces shrink by a third


def png(picture: ByteArray) -> bytes:
    r"""Encode a grey picture.

    Args:
        picture: (height, width) uint8.

    Returns:
        A PNG file of 8 bits per pixel.

    >>> png(np.zeros((2, 3), dtype=np.uint8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width = picture.shape
    above = np.vstack([np.zeros((1, width), np.uint8), picture[:-1]])
    rows = np.hstack([np.full((height, 1), _UP, np.uint8), picture - above])  # modulo 256
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        )
    )


def data_uri(picture: ByteArray) -> str:
    """A grey picture (height, width) uint8 as ``data:image/png;base64,...``."""
    return "data:image/png;base64," + base64.b64encode(png(picture)).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )
