/** Accounts in every state, for the pages of administrators. */
import { Secret } from '../../../server/src/foundation/crypto/secret.ts';
import { goodPassword, operator, type TestApp } from '../../../server/test-kit/new-app.ts';
import { hostileTexts, seedAccount, type Seeded } from './seed.ts';

/** @returns the data of an account with keys of every kind, which the administrator looks at */
export async function seedAdministration(app: TestApp, administratorEmail: string): Promise<Seeded> {
  const { accounts, administration } = app.service.services;
  await accounts.create(operator, administratorEmail, new Secret(goodPassword), 'admin');
  const suffix = administratorEmail.split('@', 1)[0]!;
  const seeded = await seedAccount(app, `ada.${suffix}@example.com`, Object.values(hostileTexts));
  const disabled = await app.createAccount(`bob.${suffix}@example.com`);
  await accounts.disable(operator, disabled.id);
  await administration.invite(operator, `carol.${suffix}@example.com`, 'user');
  return { ...seeded, email: administratorEmail };
}
