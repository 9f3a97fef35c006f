/** The end of a portal session, and the use of its token: commits of unknown outcome, and tokens that cause no commit. */
import assert from 'node:assert/strict';
import type { CreatedPortalSession } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { hostOrigin, tokenOf } from '../../../../test-kit/portal.ts';
import { addAccount, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Db } from '../../../foundation/database/db.ts';

/** A backend with a session, and two instances, of which the connection of one can break. */
async function fixture(db: Db) {
  const [line, clock] = [new Line(), new FakeClock()];
  const [one, other] = [wireOn(behind(db, line), { clock }), wireOn(db, { clock })];
  const accountId = await addAccount(db);
  const scopes = ['keyreeve:keys'];
  const key = await other.apiKeys.create(operator, accountId, { nickname: 'backend', scopes });
  const lookup = other.verifier.lookupOf(key.secret.reveal());
  const principal = { kind: 'key', keyId: key.id, accountId, lookup, addresses: null } as const;
  await other.serviceAccounts.create(principal, accountId, { name: 'tenant', externalId: 'tenant' });
  const request = { externalId: 'tenant', capabilities: ['read' as const], origin: hostOrigin };
  const session = await other.portal.sessions.create(principal, request);
  return { line, one, other, principal, session };
}

const redeem = async ({ portal }: Services, session: CreatedPortalSession): Promise<string> =>
  (await portal.sessions.redeem({ id: session.id, token: tokenOf(session) })).secret.reveal();
const stateOf = ({ portal }: Services, text: string): Promise<unknown> =>
  portal.sessions.authenticate({ kind: 'bearer', text }).then(() => 'open', codeOf);

onEachDatabase('a token that does not work causes no write', async ({ db }) => {
  const { other, principal, session } = await fixture(db);
  const request = { externalId: 'tenant', capabilities: ['read' as const], origin: hostOrigin };
  const [used, another] = [await other.portal.sessions.create(principal, request), session];
  await redeem(other, used);
  const reader = wireOn(
    withTransaction(db, () => Promise.reject(new Error('a write'))),
    { clock: new FakeClock() },
  );
  for (const wrong of [used, { ...another, url: used.url }, { ...another, id: 'unknown' }])
    await assert.rejects(redeem(reader, wrong), { code: 'portal_token_invalid' });
  await assert.rejects(redeem(reader, another), /a write/, 'the token itself');
});

for (const state of ['cut before', 'cut after'] as const) {
  onEachDatabase(`an end whose connection is ${state} the commit is finished`, async ({ db }) => {
    const { line, one, other, principal, session } = await fixture(db);
    const secret = await redeem(other, session);
    line.state = state;
    assert.equal(await one.portal.sessions.end(principal, session.id).then(() => 'ended', codeOf), 'unavailable');
    assert.equal(await stateOf(one, secret), state === 'cut before' ? 'unavailable' : 'portal_session_ended');
    line.state = 'whole';
    await until('the session has ended', async () => (await stateOf(other, secret)) === 'portal_session_ended');
    const events = (await listAuditEvents(db)).filter(({ action }) => action === 'portal_session.ended');
    assert.equal(events.length, 1);
  });

  onEachDatabase(`a token whose connection is ${state} the commit works once, or not`, async ({ db }) => {
    const { line, one, other, session } = await fixture(db);
    line.state = state;
    assert.equal(await redeem(one, session).catch(codeOf), 'unavailable');
    line.state = 'whole';
    const again = await redeem(other, session).then(() => 'redeemed', codeOf);
    assert.equal(again, state === 'cut before' ? 'redeemed' : 'portal_token_invalid');
  });
}
