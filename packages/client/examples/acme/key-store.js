// The key of the user: in the key store of the system, if @napi-rs/keyring is installed and finds one; otherwise in a file that only
// its owner can read. ACME_KEY_FILE names another file, which is used in any case.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const { ACME_KEY_FILE, XDG_CONFIG_HOME = join(homedir(), '.config') } = process.env;
const path = ACME_KEY_FILE ?? join(XDG_CONFIG_HOME, 'acme', 'key.json');
const entry = ACME_KEY_FILE === undefined ? await systemEntry() : undefined;

// Undefined without a key store, as over SSH. That of the Linux kernel does not outlive a restart.
async function systemEntry() {
  try {
    const { AsyncEntry } = await import('@napi-rs/keyring');
    const found = new AsyncEntry('acme-cli', 'key', { linux: { store: 'secret-service' } });
    await found.getPassword();
    return found;
  } catch {
    return undefined;
  }
}

export async function storeKey(key) {
  await deleteKey();
  const text = JSON.stringify(key);
  if (entry) return entry.setPassword(text);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
}

export async function readKey() {
  const text = (await entry?.getPassword()) ?? (await readFile(path, 'utf8').catch(ifMissing));
  return text && JSON.parse(text);
}

export async function deleteKey() {
  await entry?.deletePassword();
  await rm(path, { force: true });
}

function ifMissing(error) {
  if (error.code !== 'ENOENT') throw error;
}
