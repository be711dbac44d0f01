"""Run one Python peer in an interpreter of its own: ``python drive_python.py PEER JOB.json``; prints one JSON line.

Imports nothing of ours. The job is {"text", "runs", "probes"}; the answer {"times", "bytes", "pages", "probes"}: CPU
seconds of each run, sizes of one, and a digest of what each probe, a short text, looks like.
"""

import base64
import contextlib
import hashlib
import io
import json
import resource
import sys
from pathlib import Path


def un_locc():
    from un_locc import UnLOCC

    peer = UnLOCC(api_key="none")

    def draw(text):
        urls = peer._generate_images(text, **peer.default_compression)  # noqa: SLF001  (the public one sends them)
        return [base64.b64decode(url.split(",", 1)[1]) for url in urls]

    return draw


def pixelprompt():
    from pixelprompt import PixelPrompt, RenderConfig

    peer = PixelPrompt(RenderConfig.for_content("code"))

    def draw(text):
        return [picture.png_bytes() for picture in peer.render(text.replace("\r", " "))]  # which it cannot draw

    return draw


PEERS = {"un-locc": un_locc, "pixelprompt": pixelprompt}


def cpu_clock():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def digest(draw, text):
    """Return what a text looks like, None when it cannot be drawn."""
    try:
        return hashlib.sha256(b"".join(draw(text))).hexdigest()
    except Exception:  # noqa: BLE001  (whatever a peer raises)
        return None


def run(draw, job, clock=cpu_clock):
    times = []
    for _ in range(job["runs"] + 1):
        start = clock()
        pages = draw(job["text"])
        times.append(clock() - start)
    looks = [digest(draw, text) for text in job["probes"]]
    return {"times": times[1:], "bytes": sum(map(len, pages)), "pages": len(pages), "probes": looks}


if __name__ == "__main__":
    wanted = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()):
        found = run(PEERS[sys.argv[1]](), wanted)
    print(json.dumps(found))
