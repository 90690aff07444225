#!/usr/bin/env python3
"""Checks a receipt of Agon without Agon.

    python3 verify_receipt.py RECEIPT [PUBLIC_KEY]

It needs Python 3.8 and nothing else. It checks the Ed25519 signature (RFC 8032) over the DSSE envelope, the hash chain of the log, and
that the signed statement names the end of that chain, the debate and the verdict which the log closes with. It does not replay the
debate: for that, one needs the rules, which are in Agon.

Exit status: 3 the receipt is as it was signed, with this key (it is never 0, because nothing was replayed); 1 something was changed, or
another key signed; 2 the file cannot be read.
"""
import base64
import hashlib
import json
import sys

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
SQRT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)
GENESIS = "0" * 64


def add(p, q):
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def decompress(data):
    """The point that 32 bytes encode, or None."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * SQRT_OF_MINUS_1 % P
    if (x * x - x2) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_same_point(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


def is_signed(key, message, signature):
    """Whether this Ed25519 key signed this message."""
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r = decompress(key), decompress(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    h = int.from_bytes(digest, "little") % ORDER
    return is_same_point(multiply(s, BASE), add(r, multiply(h, a)))


def read_key(text):
    kind, _, data = text.strip().split()[0].partition(":")
    if kind != "ed25519":
        raise ValueError("a public key is written ed25519:BASE64")
    return base64.b64decode(data, validate=True)


def faults(receipt, wanted_key):
    """What is wrong with a receipt, as sentences; empty if nothing is."""
    envelope = receipt["receipt"]
    payload = base64.b64decode(envelope["payload"], validate=True)
    kind = envelope["payloadType"]
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    key = read_key(wanted_key or receipt["public_key"])
    signatures = envelope["signatures"]
    if kind != "application/vnd.in-toto+json":
        yield "the payload is not an in-toto statement"
    if len(signatures) != 1 or not is_signed(key, signed, base64.b64decode(signatures[0]["sig"], validate=True)):
        yield "the signature does not match the payload and the key"
    said = json.loads(payload)["predicate"]
    if receipt.get("log") is None:
        return
    head = GENESIS
    for number, record in enumerate(receipt["log"]):
        expected = hashlib.sha256((head + record["body"]).encode()).hexdigest()
        if expected != record["hash"]:
            yield "event %d was changed, added or removed" % number
            return
        if json.loads(record["body"])["seq"] != number:
            yield "event %d has another number" % number
        head = record["hash"]
    if (head, len(receipt["log"])) != (said["log"]["head"], said["log"]["events"]):
        yield "the log is not the one that was signed"
    first, last = (json.loads(receipt["log"][place]["body"]) for place in (0, -1))
    if first.get("brief", {}).get("id") != said["id"]:
        yield "the log is of another debate"
    if last.get("event") != "closed" or last["outcome"]["verdict"] != said["verdict"]:
        yield "the signed verdict is not the one that the log closes with"


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            receipt = json.load(file)
        wanted = sys.argv[2] if len(sys.argv) == 3 else None
        found = list(faults(receipt, wanted))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as why:
        print("%s: it cannot be read as a receipt: %r" % (sys.argv[1], why))
        sys.exit(2)
    for sentence in found:
        print("%s: changed: %s" % (sys.argv[1], sentence))
    if found:
        sys.exit(1)
    what = "signature and hash chain hold" if receipt.get("log") else "the signature holds; there is no log in the file"
    print("%s: %s, key %s; not replayed" % (sys.argv[1], what, wanted or receipt["public_key"]))
    sys.exit(3)


if __name__ == "__main__":
    main()
