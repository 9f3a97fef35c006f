/** The compose file names what exists: its settings are accepted, and its addresses are those of the nginx beside it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '../../src/app/configuration/config.ts';

const folder = new URL('../../../../docs/compose/', import.meta.url);
const compose = readFileSync(new URL('compose.yaml', folder), 'utf8');
const nginx = readFileSync(new URL('nginx.conf', folder), 'utf8');

/** As the shell's environment would fill them in. */
const filledIn: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'password',
  KEYREEVE_MASTER_KEY: randomBytes(32).toString('base64url'),
};

test('the settings of the compose file are a configuration that the service accepts', () => {
  const settings = [...compose.matchAll(/^ +(KEYREEVE_\w+): (.+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value.replaceAll(/\$\{(\w+):[^}]*\}/g, (_, variable: string) => filledIn[variable] ?? ''),
  ]);
  const { database, trustedProxies, host, drainSeconds } = readConfig(Object.fromEntries(settings) as typeof filledIn);
  assert.deepEqual(database.kind === 'postgres' && [database.hosts, database.sslMode], [
    [{ host: 'postgres', port: 5432 }],
    'disable',
  ]);
  assert.equal(host, '0.0.0.0');
  const grace = Number(/stop_grace_period: (\d+)s/.exec(compose)?.[1]);
  assert.ok(grace > drainSeconds);
  // nginx closes idle connections before an instance that ends would.
  assert.ok(Number(/keepalive_timeout (\d+)s;/.exec(nginx)?.[1]) < drainSeconds / 2);
  const proxy = /^ {2}nginx:$[^]*?ipv4_address: ([\d.]+)/m.exec(compose)?.[1];
  assert.deepEqual(trustedProxies, [`${proxy}/32`]);
});

test('nginx asks every instance of the compose file', () => {
  const services = [...compose.matchAll(/^ {2}(keyreeve-\d+):$/gm)].map(([, name]) => name);
  const servers = [...nginx.matchAll(/^ +server (keyreeve-\d+):8787 /gm)].map(([, name]) => name);
  assert.deepEqual(servers, services);
  assert.equal(services.length, 2);
});
