// Bundles the viewer into one file, dist/viewer.html: style and script inside, nothing to fetch.
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const options = {
  bundle: true, minify: true, write: false, target: ["es2022"], logLevel: "warning", legalComments: "inline",
  charset: "utf8", absWorkingDir: here,
};
const script = await build({ ...options, entryPoints: ["src/main.ts"], format: "iife", outdir: "dist" });
const style = await build({ ...options, entryPoints: ["src/style.css"], outdir: "dist" });
const text = (result) => result.outputFiles[0].text.trim();

// Compressed, since every replay carries it: a third of the size. page.html says how it is unpacked.
const code = deflateSync(text(script), { level: 9 }).toString("base64");
const page = (await readFile(join(here, "src/page.html"), "utf8"))
  .replace("/*STYLE*/", () => text(style))
  .replace("CODE", () => code);
await mkdir(join(here, "dist"), { recursive: true });
await writeFile(join(here, "dist/viewer.html"), page);
console.log(`viewer/dist/viewer.html: ${(page.length / 1024).toFixed(0)} KiB`);
