// Bundles the tests of one kind (unit, e2e) and runs them with node's test runner; or makes figures, or measures.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const kind = process.argv[2];
const out = join(here, "../.out");
const bundle = (files) => build({
  entryPoints: files.map((f) => join(here, f)), bundle: true, platform: "node", format: "esm", target: "node18", outdir: out,
  outExtension: { ".js": ".mjs" }, external: ["playwright-core", "node:*"], logLevel: "warning",
  define: { "import.meta.viewer": JSON.stringify(join(here, "..")) },
});
if (kind === "figures" || kind === "measure") {
  await bundle([`${kind}.ts`]);
  process.exit(spawnSync(process.execPath, [join(out, `${kind}.mjs`), ...process.argv.slice(3)], { stdio: "inherit" }).status ?? 1);
}
if (kind === "e2e") {
  const { CHROMIUM } = await import("./chromium.mjs");
  if (!CHROMIUM) {
    console.log("SKIPPED: tests of the page in a browser, no Chromium on this machine (Debian: apt-get install chromium)");
    process.exit(0);
  }
  if (!existsSync(join(here, "../dist/viewer.html"))) {
    console.error("viewer/dist/viewer.html is missing; run npm run build first");
    process.exit(1);
  }
}
const files = readdirSync(here).filter((f) => f.endsWith(`.${kind}.ts`));
await bundle(files);
const tests = files.map((f) => join(out, f.replace(/\.ts$/, ".mjs")));
const run = spawnSync(process.execPath, ["--test", "--test-concurrency=1", ...process.argv.slice(3), ...tests], { stdio: "inherit" });
process.exit(run.status ?? 1);
