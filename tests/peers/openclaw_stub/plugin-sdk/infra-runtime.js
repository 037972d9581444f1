// One process at a time uses the state folder of a test, so that its lock may be no lock at all.
import os from "node:os";

export function withFileLock(_path, _options, action) {
  return action();
}

export function resolvePreferredOpenClawTmpDir() {
  return os.tmpdir();
}
