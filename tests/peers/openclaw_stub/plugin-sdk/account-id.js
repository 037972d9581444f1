// The host's file-safe form of an account id.
export function normalizeAccountId(id) {
  return id.trim().toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "-");
}
