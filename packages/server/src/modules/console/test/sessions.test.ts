/** Sessions of the console: sign-in, the view, sign-out, and everything that ends them. */
import assert from 'node:assert/strict';
import type { SessionView } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import { newApp } from '../../../../test-kit/new-app.ts';

test('a sign-in starts a session that the cookie alone proves', async () => {
  await using app = await newApp();
  const { id, email } = await app.createAccount();
  const client = new ConsoleClient(app);
  const view = await client.signIn(email);
  const now = app.clock.now();
  const at = (ms: number): string => new Date(now + ms).toISOString();
  const expected: SessionView = {
    account: { id, email, role: 'user', language: null, secondFactor: false, mustEnrol: false },
    session: {
      id: view.session.id,
      createdAt: at(0),
      authenticatedAt: at(0),
      idleExpiresAt: at(12 * 3_600_000),
      expiresAt: at(7 * 86_400_000),
    },
    now: at(0),
  };
  assert.deepEqual(view, expected);
  assert.deepEqual(await client.session(), expected);
  const account = await client.call('GET', '/api/auth/account');
  assert.equal((account.json as { email: string }).email, email);
});
