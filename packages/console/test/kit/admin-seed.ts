/** Accounts in every state, for the pages of administrators. */
import { Secret } from '../../../server/src/foundation/crypto/secret.ts';
import { insertJobTx, postponeJob } from '../../../server/src/modules/outbox/store.ts';
import { saveTriedDeliveries } from '../../../server/src/modules/webhooks/delivery-store.ts';
import { goodPassword, operator, type TestApp } from '../../../server/test-kit/new-app.ts';
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
  const webhook = await webhooks.endpoints.create(operator, {
    url: 'https://hooks.example.com/keyreeve',
    // No scene causes it, so nothing is sent.
    events: ['account.email_changed'],
  });
  await saveTriedDeliveries(
    app.db,
    Object.values(hostileTexts).map((error, n) => ({
      id: `msg_${webhook.id.slice(5)}${n}`,
      endpointId: webhook.id,
      type: 'account.email_changed',
      eventAt: app.clock.now(),
      chain: 0,
      position: 1_000_000,
      attempts: [[app.clock.now(), n === 0 ? 200 : 503, 41, n === 0 ? null : error]],
    })),
    20,
  );
  await seedOutbox(app);
  await seedOverview(app, webhook);
  return { ...seeded, webhookId: webhook.id, email: administratorEmail };
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
