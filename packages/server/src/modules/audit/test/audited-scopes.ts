/** Changes of the scope catalogue and of entitlements, for `audit.test.ts`. */
import { AccountRevocations } from '../../accounts/account-revocations.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { Entitlements } from '../../scope-catalogue/entitlements.ts';
import { ScopeCatalogue } from '../../scope-catalogue/scope-catalogue.ts';
import { SignInLimits } from '../../rate-limits/sign-in-limits.ts';
import { addAccount, keys, now, operator } from '../../../../test-kit/rows.ts';

const clock = { now: () => now };
const coreOf = (db: Db) => ({ db, clock, revocations: undefined });
const catalogueOf = (db: Db): ScopeCatalogue => new ScopeCatalogue({ ...coreOf(db), isEnforced: true });
const entitlementsOf = (db: Db): Entitlements => {
  const bucketHash = keys.rateLimitBucket;
  const signInLimits = new SignInLimits({ db, clock, bucketHash, ipRangeLimits: [], enabled: false });
  return new Entitlements({ ...coreOf(db), accounts: new AccountRevocations({ ...coreOf(db), signInLimits }) });
};
const row = (action: string, target: string, details: object, accountId: string | null = null) => ({
  actor: 'operator',
  action,
  accountId,
  target,
  details: JSON.stringify(details),
});

/** Adds an account with an entitlement. */
export async function addScopes(db: Db): Promise<void> {
  await addAccount(db, 'eve');
  await catalogueOf(db).set(operator, 'held', { description: '', entitled: true });
  await entitlementsOf(db).set(operator, 'acc_eve', ['held']);
}

export const scopeOperations = {
  'scope.set': {
    change: (db: Db) => catalogueOf(db).set(operator, 'new', { description: 'x', entitled: true }),
    rows: [row('scope.set', 'new', { entitled: 1, narrowed: ['entitled'] })],
    refused: (db: Db) => catalogueOf(db).set(operator, 'keyreeve:new', { description: 'x', entitled: true }),
  },
  'scope.deleted': {
    change: (db: Db) => catalogueOf(db).delete(operator, 'held'),
    rows: [row('scope.deleted', 'held', {})],
    refused: (db: Db) => catalogueOf(db).delete(operator, 'unknown'),
  },
  'account.entitlements_set': {
    change: (db: Db) => entitlementsOf(db).set(operator, 'acc_eve', []),
    rows: [row('account.entitlements_set', 'acc_eve', { entitlements: [], removed: ['held'] }, 'acc_eve')],
    refused: (db: Db) => entitlementsOf(db).set(operator, 'acc_eve', ['held', 'unknown']),
  },
};
