// Stands in for the host application of the plugin: every name imported from it is something that does nothing.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NOTHING =
  'const nothing = new Proxy(function () {}, { get: (_, key) => (key === Symbol.toPrimitive ? () => "" : nothing),' +
  " apply: () => nothing, construct: () => nothing });export default nothing;";

function namesFrom(importer, specifier) {
  const source = readFileSync(fileURLToPath(importer), "utf8");
  const statements = source.matchAll(/(?:import|export)\s*\{([^}]*)\}\s*from\s*["']([^"']+)["']/g);
  const wanted = [...statements].filter((found) => found[2] === specifier).flatMap((found) => found[1].split(","));
  return [...new Set(wanted.map((name) => name.trim().split(/\s+as\s+/)[0]).filter(Boolean))];
}

export async function resolve(specifier, context, next) {
  if (!/^openclaw(\/|$)/.test(specifier)) return next(specifier, context);
  const names = namesFrom(context.parentURL, specifier).filter((name) => name !== "default");
  const source = NOTHING + names.map((name) => `export const ${name} = nothing;`).join("");
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true };
}
