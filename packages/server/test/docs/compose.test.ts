/** The Compose file names what exists: its settings are accepted, and its IP addresses are those of the nginx beside it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { readConfig } from '../../src/app/configuration/config.ts';
import { keyreeve, secretsScript, services } from './compose-file.ts';
import { readPage, root } from './shell-blocks.ts';

const nginx = readPage('docs/compose/nginx.conf');

test('the settings of the Compose file are a configuration that the service accepts, with secrets in files only', () => {
  const { KEYREEVE_MASTER_KEY_FILE: keyFile, KEYREEVE_DATABASE_URL_FILE: urlFile, ...settings } = keyreeve.environment!;
  assert.deepEqual([keyFile, urlFile], ['/run/secrets/keyreeve/master-key', '/run/secrets/keyreeve/database-url']);
  const [url = ''] = /postgres:\/\/\S+(?=")/.exec(secretsScript) ?? [];
  const { database, trustedProxies, host, drainSeconds } = readConfig({
    ...settings,
    KEYREEVE_MASTER_KEY: randomBytes(32).toString('base64url'),
    KEYREEVE_DATABASE_URL: url.replace('$password', 'A1'),
  });
  assert.deepEqual(database.kind === 'postgres' && [database.hosts, database.sslMode], [
    [{ host: 'postgres', port: 5432 }],
    'disable',
  ]);
  assert.equal(host, '0.0.0.0');
  const grace = Number(/^(\d+)s$/.exec(keyreeve.stop_grace_period!)?.[1]);
  assert.ok(grace > drainSeconds);
  // nginx closes idle connections before an instance that ends would.
  assert.ok(Number(/keepalive_timeout (\d+)s;/.exec(nginx)?.[1]) < drainSeconds / 2);
  assert.deepEqual(trustedProxies, [`${services['nginx']?.networks?.inside?.ipv4_address}/32`]);
});

test('nginx asks every instance of the Compose file', () => {
  const instances = Object.keys(services).filter((name) => name.startsWith('keyreeve-'));
  const servers = [...nginx.matchAll(/^ +server (keyreeve-\d+):8787 /gm)].map(([, name]) => name);
  assert.deepEqual(servers, instances);
  assert.equal(instances.length, 2);
});

test('every service has a bounded log, and every one that stays has a health check and is started again', () => {
  for (const [name, { logging, healthcheck, restart }] of Object.entries(services)) {
    assert.deepEqual(Object.keys(logging?.options ?? {}), ['max-size', 'max-file'], name);
    if (['secrets', 'backup'].includes(name)) continue;
    assert.equal(healthcheck?.test?.[0], 'CMD', name);
    assert.equal(restart, 'unless-stopped', name);
  }
});

test('the Compose specification accepts the file', (t) => {
  const checked = spawnSync('compose-spec', ['docs/compose/compose.yaml'], { encoding: 'utf8', cwd: root });
  if (checked.error) {
    assert.notEqual(process.env['CI'], 'true', 'compose-spec is not installed, but CI requires it');
    return t.skip('not tried: compose-spec is not installed');
  }
  assert.equal(checked.status, 0, checked.stderr);
});
