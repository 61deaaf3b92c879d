"""Checks the signature of a webhook with Python's standard library alone.

    from verify import verify
    verify(secret, headers, body)   # raises ValueError; headers with lower-case names, body as bytes

As a program it reads one JSON object {"secret", "headers", "body"} for each line, and prints ok or the error.
"""
import base64, hashlib, hmac, json, sys, time


def verify(secret, headers, body, now=None, tolerance=300):
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    message_id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise ValueError("too old, or from the future")
    signed = f"{message_id}.{timestamp}.".encode() + body
    want = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    for each in headers["webhook-signature"].split(" "):  # two while the secret is being rotated
        version, _, signature = each.partition(",")
        if version == "v1" and hmac.compare_digest(signature.encode(), want.encode()):
            return
    raise ValueError("no signature matches")


if __name__ == "__main__":
    for line in sys.stdin:
        case = json.loads(line)
        try:
            verify(case["secret"], case["headers"], case["body"].encode(), case.get("now"))
            print("ok")
        except (ValueError, KeyError) as e:
            print(repr(e))
