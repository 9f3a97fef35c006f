/** Rivals at the same time: one redeems a token, and one ends a session. */
import assert from 'node:assert/strict';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { newApp } from '../../../../test-kit/new-app.ts';
import { newPortalBackend, redeem, stateOf } from '../../../../test-kit/portal.ts';

const rivals = 16;

testOnBoth('of 16 rivals with one token, one gets the secret, and its session lasts', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  for (let round = 0; round < 3; round++) {
    const session = await backend.create();
    const answers = await Promise.all(Array.from({ length: rivals }, () => redeem(app, session)));
    const [winner, ...others] = answers.filter(({ status }) => status === 201);
    assert.ok(winner);
    assert.equal(others.length, 0);
    const codes = answers.filter(({ status }) => status !== 201).map(({ json }) => (json as { code: string }).code);
    assert.deepEqual([codes.length, [...new Set(codes)]], [rivals - 1, ['portal_token_invalid']]);
    const { secret } = winner.json as { secret: string };
    assert.equal((await stateOf(app, { headers: { authorization: `Bearer ${secret}` } })).status, 200);
  }
});

testOnBoth('of 16 rivals that end one session, the audit log has one end', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const { id, headers } = await backend.open();
  const answers = await Promise.all(
    Array.from({ length: rivals }, (_, n) =>
      n % 2 === 0
        ? app.call('DELETE', '/auth/portal/session', { headers })
        : app.call('DELETE', `/auth/portal-sessions/${id}`, { headers: backend.headers }),
    ),
  );
  const codes = answers.map(({ status, json }) => (status === 204 ? 'ended' : (json as { code: string }).code));
  assert.ok(codes.includes('ended'));
  const others = ['ended', 'portal_session_ended', 'portal_session_not_found'];
  assert.deepEqual(
    codes.filter((code) => !others.includes(code)),
    [],
  );
  const events = await listAuditEvents(app.db);
  assert.deepEqual(
    events.filter(({ action }) => action === 'portal_session.ended').map(({ target }) => target),
    [id],
  );
});
