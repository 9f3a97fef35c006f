/** Accounts in every state, for the pages of administrators. */
import { sql } from '../../../server/src/foundation/database/sql.ts';
import { Secret } from '../../../server/src/foundation/crypto/secret.ts';
import { insertJobTx, postponeJob } from '../../../server/src/modules/outbox/store.ts';
import { saveTriedDeliveries } from '../../../server/src/modules/webhooks/delivery-store.ts';
import type { LoggedEvent } from '../../../server/src/modules/webhooks/events.ts';
import { messageOf } from '../../../server/src/modules/webhooks/publisher.ts';
import { queueOf } from '../../../server/src/modules/webhooks/store.ts';
import { goodPassword, operator, type TestApp } from '../../../server/test-kit/new-app.ts';
import { addIssuer } from '../../../server/test-kit/issuers.ts';
import { findIssuersFor } from '../../../server/src/modules/issuers/store.ts';
import { seedPrograms } from './approval-scenes.ts';
import { seedOverview } from './overview-seed.ts';
import { hostileTexts, seedAccount, type Seeded } from './seed.ts';

/** @returns the data of an account with keys of every kind, which the administrator looks at */
export async function seedAdministration(app: TestApp, administratorEmail: string): Promise<Seeded> {
  const { accounts, administration, scopeCatalogue, webhooks } = app.service.services;
  await accounts.create(operator, administratorEmail, new Secret(goodPassword), 'admin');
  const suffix = administratorEmail.split('@', 1)[0]!;
  const seeded = await seedAccount(app, `ada.${suffix}@example.com`, Object.values(hostileTexts));
  const disabled = await app.createAccount(`bob.${suffix}@example.com`);
  await accounts.disable(operator, disabled.id);
  await administration.invite(operator, `carol.${suffix}@example.com`, 'user');
  await scopeCatalogue.set(operator, 'orders:read', { description: hostileTexts.script, entitled: false });
  await scopeCatalogue.set(operator, 'reports:read', { description: hostileTexts.markup, entitled: true });
  await scopeCatalogue.set(operator, 'old:scope', { description: hostileTexts.wide, entitled: false });
  await scopeCatalogue.delete(operator, 'old:scope');
  // Another administrator may have been seeded.
  const url = `https://login.example.com/${hostileTexts.wide}/v2`;
  if ((await findIssuersFor(app.db, '', url)).length === 0)
    await addIssuer(app.db, { url, jwks: { keys: [] }, idClaims: ['/oid'], lifetimeSeconds: 86_700 });
  const webhook = await webhooks.endpoints.create(operator, {
    url: 'https://hooks.example.com/keyreeve',
    // No scene causes it, so nothing is sent.
    events: ['account.email_changed'],
  });
  await seedDeliveries(app, webhook.id);
  await seedPrograms(app);
  await seedMail(app, seeded.email);
  await seedOutbox(app);
  await seedOverview(app, webhook);
  return { ...seeded, webhookId: webhook.id, email: administratorEmail };
}

const selectEvent = sql<LoggedEvent>(
  'test_newest_published_event',
  `select chain, position, mac, at, actor, action, account_id as "accountId", target, details
   from audit_events where action = 'api_key.created' order by id desc limit 1`,
);

/** One whose payload is shown and that was delivered, one that waits, and some whose events are gone. */
async function seedDeliveries({ db, clock, service }: TestApp, endpointId: string): Promise<void> {
  const now = clock.now();
  const event = await db.get(selectEvent);
  const message = event && messageOf(event, endpointId);
  if (!message) throw new Error('no event is published');
  const delivery = { endpointId, type: 'account.email_changed', eventAt: now, chain: 0, position: 1_000_000 };
  const failed = Object.values(hostileTexts).map((error, n) => ({
    ...delivery,
    id: `msg_${endpointId.slice(5)}${n}`,
    attempts: [[now, n === 0 ? null : 503, 41, error] as const],
  }));
  const { chain, position, at } = event;
  const place = { id: message.id, endpointId, type: 'api_key.created', eventAt: at, chain, position };
  const delivered = {
    ...place,
    attempts: [[now + 1, 500, 1_204, 'it answered 500'] as const, [now + 2, 204, 41, null] as const],
  };
  await saveTriedDeliveries(db, [...failed, delivered], 20);
  const waiting = service.services.outbox.prepare('webhook', queueOf(endpointId), {}, failed[0]?.id);
  await db.transaction((tx) => insertJobTx(tx, { ...waiting, dueAt: now + 3_600_000 }));
}

/** Mails that failed, beside those that the service sends. */
async function seedMail({ db, clock, service }: TestApp, to: string): Promise<void> {
  const failures = ['451 4.7.1 try again later', ...Object.values(hostileTexts)];
  for (const [n, failure] of failures.entries()) {
    const id = `${to} ${n}`.replaceAll(/[^a-z0-9]/g, '_');
    const mail = { id, to, template: 'suspicious_sign_in', createdAt: clock.now() } as const;
    await db.transaction((tx) => service.services.mailLog.recordTx(tx, mail, failure));
    if (n > 0) continue;
    const job = service.services.outbox.prepare('mail', 'mail', {}, id);
    await db.transaction((tx) => insertJobTx(tx, { ...job, dueAt: clock.now() + 3_600_000 }));
  }
}

/** Jobs that are not due yet, so the service does not run them. */
async function seedOutbox({ db, clock, service }: TestApp): Promise<void> {
  const later = clock.now() + 3_600_000;
  for (const [kind, queue, reason] of [
    ['mail', 'mail', '451 4.7.1 try again later'],
    ['mail', 'mail', Object.values(hostileTexts)[0] ?? ''],
    ['webhook', 'webhook:whe_0000000000000000000000', undefined],
  ] as const) {
    const row = service.services.outbox.prepare(kind, queue, {});
    await db.transaction((tx) => insertJobTx(tx, { ...row, dueAt: later }));
    if (reason !== undefined) await postponeJob(db, { id: row.id, handedOver: 0 }, later, reason);
  }
}
