// Where the drivers find the modules of Tencent's own client, and how they report to the test.
import path from "node:path";
import { pathToFileURL } from "node:url";

const SOURCE = path.join(process.env.PEERS, "node_modules/@tencent-weixin/openclaw-weixin/dist/src");

export function official(module) {
  return import(pathToFileURL(path.join(SOURCE, module)));
}

export function report(result) {
  // The client itself prints to stdout, so the report is marked.
  process.stdout.write(`\nREPORT ${JSON.stringify(result)}\n`);
}
