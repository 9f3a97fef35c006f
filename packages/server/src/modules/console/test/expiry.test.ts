/** When a session of the console ends by itself, and which requests extend it. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { newAdministrator, problemCode } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { newApp, type TestApp } from '../../../../test-kit/new-app.ts';

const roles = {
  user: { idle: limits.consoleIdleSecondsMax, max: limits.consoleSessionSecondsMax },
  admin: { idle: limits.consoleAdministratorIdleSecondsMax, max: limits.consoleAdministratorSecondsMax },
} as const;

async function newClient(app: TestApp, role: keyof typeof roles): Promise<ConsoleClient> {
  const { email } = role === 'admin' ? (await newAdministrator(app)).account : await app.createAccount();
  const client = new ConsoleClient(app);
  await client.signIn(email);
  return client;
}

test('a session ends if the person does nothing, even while the console polls', { tags: ['asvs:7.3.1'] }, async () => {
  for (const [role, { idle }] of Object.entries(roles)) {
    await using app = await newApp();
    const client = await newClient(app, role as keyof typeof roles);
    for (const part of [idle / 2, idle / 2 - 1]) {
      app.clock.advance({ seconds: part });
      assert.equal((await client.poll('/api/auth/account')).status, 200, role);
    }
    app.clock.advance({ seconds: 1 });
    assert.equal(problemCode(await client.poll('/api/auth/account')), 'console_session_required', role);
    assert.equal(problemCode(await client.call('GET', '/api/auth/account')), 'console_session_required', role);
  }
});

test('actions extend a session until its absolute end', { tags: ['asvs:7.3.2'] }, async () => {
  for (const [role, { idle, max }] of Object.entries(roles)) {
    await using app = await newApp();
    const client = await newClient(app, role as keyof typeof roles);
    const step = idle - 1;
    let passed = 0;
    while (passed + step < max) {
      app.clock.advance({ seconds: step });
      passed += step;
      assert.equal((await client.call('GET', '/api/auth/account')).status, 200, `${role} ${passed}`);
    }
    const { session, now } = await client.session();
    assert.equal(session.idleExpiresAt, session.expiresAt);
    assert.equal(Date.parse(session.expiresAt) - Date.parse(now), (max - passed) * 1000);
    app.clock.advance({ seconds: max - passed });
    assert.equal(await client.isSignedIn(), false, role);
  }
});

test('an extension is written at most every five minutes, and only for an action', async () => {
  await using app = await newApp();
  const client = await newClient(app, 'user');
  const end = async (): Promise<number> => Date.parse((await client.session()).session.idleExpiresAt);
  const idleMs = limits.consoleIdleSecondsMax * 1000;
  const start = app.clock.now();
  app.clock.advance({ seconds: limits.consoleExtensionSeconds - 1 });
  await client.call('GET', '/session');
  assert.equal(await end(), start + idleMs, 'too early');
  app.clock.advance({ seconds: 1 });
  await client.poll('/api/auth/account');
  assert.equal(await end(), start + idleMs, 'a poll');
  const extended = await client.call('GET', '/session');
  const { session } = extended.json as { session: { idleExpiresAt: string } };
  assert.equal(Date.parse(session.idleExpiresAt), app.clock.now() + idleMs);
  assert.equal(await end(), app.clock.now() + idleMs);
});

test('no session of the console is longer than the operator allows sessions to be', async () => {
  const environment = { KEYREEVE_REFRESH_IDLE_TTL_SECONDS: '600', KEYREEVE_REFRESH_MAX_TTL_SECONDS: '1200' };
  await using app = await newApp({ environment });
  const { email } = await app.createAccount();
  const { session, now } = await new ConsoleClient(app).signIn(email);
  assert.equal(Date.parse(session.idleExpiresAt) - Date.parse(now), 600_000);
  assert.equal(Date.parse(session.expiresAt) - Date.parse(now), 1_200_000);
});
