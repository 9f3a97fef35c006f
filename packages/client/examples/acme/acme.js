#!/usr/bin/env node
// A command line whose users sign in with Keyreeve: acme login, acme whoami, acme logout.
import { generate } from 'lean-qr';
import { deviceLogin } from '@keyreeve/client/device-login';
import { deleteKey, readKey, storeKey } from './key-store.js';

const url = process.env.KEYREEVE_URL ?? 'https://auth.example.com';
const colours = { on: '\u001B[40m  ', off: '\u001B[107m  ', lf: '\u001B[0m\n', pad: 2 };
const qrCode = (link) => generate(link).toString(colours);

const commands = {
  async login() {
    const key = await deviceLogin({ url, clientId: 'acme-cli', qrCode });
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
    const { keyId, nickname } = await signedIn();
    await deleteKey();
    console.log(`To end the key “${nickname}” (${keyId}), delete it at ${url}/console`);
  },
};

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
