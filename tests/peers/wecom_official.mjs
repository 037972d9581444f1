// Where the drivers find Tencent's WeCom packages, how they wait for the test, and how they report to it.
import { createRequire, register } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const MODULES = path.join(process.env.PEERS, "node_modules");
register(new URL("./wecom_host_hooks.mjs", import.meta.url));

export function plugin(module) {
  return import(pathToFileURL(path.join(MODULES, "@wecom/wecom-openclaw-plugin/dist/src", module)));
}

export function wecomCrypto() {
  return createRequire(import.meta.url)(path.join(MODULES, "@wecom/crypto"));
}

export function report(result) {
  // The packages print to stdout themselves, so the report is marked.
  process.stdout.write(`\nREPORT ${JSON.stringify(result)}\n`, () => process.exit(0));
}

export function untilTold() {
  return new Promise((resolve) => process.stdin.once("data", resolve).once("end", resolve));
}
