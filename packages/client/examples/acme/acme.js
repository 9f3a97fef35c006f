#!/usr/bin/env node
// A command line whose users sign in with Keyreeve: acme login, acme whoami, acme logout.
import { generate } from 'lean-qr';
import { deviceLogin, deviceLogout } from '@keyreeve/client/device-login';
import { deleteKey, readKey, storeKey } from './key-store.js';

const url = process.env.KEYREEVE_URL ?? 'https://auth.example.com';
const clientId = 'acme-cli';

const commands = {
  async login() {
    const key = await deviceLogin({ url, clientId, qrCode });
    await storeKey(key);
    console.log(`Signed in until ${key.expiresAt} with the key “${key.nickname}”`);
  },

  async whoami() {
    const { key, nickname } = await signedIn();
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/auth/forward`, { headers, redirect: 'manual' });
    if (response.status === 401) throw new Error('the key is not accepted: run `acme login`');
    if (!response.ok) throw new Error(`the service answered ${response.status}`);
    console.log(`${nickname}: ${response.headers.get('X-Keyreeve-Scopes')?.replaceAll(/\p{Cc}/gu, '')}`);
  },

  async logout() {
    const { key, keyId, nickname } = await signedIn();
    const failure = await deviceLogout({ url, clientId, key }).catch((error) => error);
    await deleteKey();
    const held = `The key “${nickname}” (${keyId}) may still be valid: delete it at ${url}/console`;
    if (failure) throw new Error(`signed out only here (${failure.message}). ${held}`);
    console.log(`Signed out. The key “${nickname}” has been deleted`);
  },
};

// Two rows of modules in a line, in black on white, so that the link above stays visible.
function qrCode(link) {
  const [code, margin, lines] = [generate(link), 2, []];
  for (let y = -margin; y < code.size + margin; y += 2) {
    let line = '';
    for (let x = -margin; x < code.size + margin; x++) line += ' ▀▄█'[code.get(x, y) + 2 * code.get(x, y + 1)];
    lines.push(`\u001B[30;107m${line}\u001B[0m\n`);
  }
  return lines.join('');
}

async function signedIn() {
  const key = await readKey();
  if (!key) throw new Error('you are not signed in: run `acme login`');
  return key;
}

try {
  const command = commands[process.argv[2] ?? ''];
  if (!command) throw new Error('usage: acme login | whoami | logout');
  await command();
} catch (error) {
  console.error(`acme: ${error.message}`);
  process.exitCode = 1;
}
