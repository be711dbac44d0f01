// Run one JavaScript peer: `bun|node drive_js.mjs PEER DIRECTORY JOB.json`; prints one JSON line, as drive_python.py does.
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";

const FRAME = 1568;
const peers = {
  // The whole package, as shipped; TypeScript, so Bun only.
  async "snapcompact"(modules) {
    const peer = await import(`${modules}/@oh-my-pi/snapcompact/src/index.ts`);
    const shape = { ...peer.resolveShape({ api: "anthropic-messages" }, "5x8-bw"), frameSize: FRAME };
    return async (text) => (await peer.renderMany(text, { shape })).map((page) => Buffer.from(page.data, "base64"));
  },
  // Its Rust renderer alone, where there is only Node. Text is cut into pages here; blank runs become one, as it does.
  async "snapcompact, renderer alone"(modules) {
    const { createRequire } = await import("node:module");
    const kind = `${process.platform}-${process.arch}`;
    const at = `${modules}/@oh-my-pi/pi-natives-${kind}/pi_natives.${kind}`;
    const load = createRequire(import.meta.url);
    const names = ["-modern.node", "-baseline.node", ".node"];
    let addon;
    for (const name of names) try { addon ??= load(at + name); } catch { /* the next */ }
    const options = { size: FRAME, font: "5x8", cellWidth: 5, cellHeight: 8, variant: "bw", lineRepeat: 1 };
    const cells = Math.floor(FRAME / 5) * Math.floor(FRAME / 8);
    return async (text) => {
      const chars = [...text.replace(/\s*\n\s*/g, "\u2588").replace(/\s+/g, " ")], jobs = [];
      for (let at = 0; at < chars.length; at += cells)
        jobs.push(addon.renderSnapcompactPng(chars.slice(at, at + cells).join(""), options));
      return (await Promise.all(jobs)).map((page) => Buffer.from(page, "base64"));
    };
  },
  // Its library in one file. It keeps finished pages: PXPIPE_RENDER_CACHE_BYTES=0 stops that.
  async "pxpipe"(directory) {
    const peer = await import(`${directory}/pxpipe-lib.mjs`);
    return async (text) => {
      const drawn = await peer.renderTextToImages(text, { reflow: true, shrink: false });
      return drawn.pages.map((page) => Buffer.from(page.png));
    };
  },
};

const [, , name, directory, file] = process.argv;
const job = JSON.parse(readFileSync(file, "utf8"));
const draw = await peers[name](directory);
const cpuClock = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1e6; };
const digest = async (text) => {
  try {
    const hash = createHash("sha256");
    for (const page of await draw(text)) hash.update(page);
    return hash.digest("hex");
  } catch { return null; }
};
const times = [];
let pages = [];
for (let run = 0; run <= job.runs; run++) {
  const start = cpuClock();
  pages = await draw(job.text);
  times.push(cpuClock() - start);
}
const probes = [];
for (const text of job.probes) probes.push(await digest(text));
const bytes = pages.reduce((sum, page) => sum + page.length, 0);
console.log(JSON.stringify({ times: times.slice(1), bytes, pages: pages.length, probes }));
