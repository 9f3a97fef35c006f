/** Changes of passkeys and their events, for `audit.test.ts`. They start from an account with the session `ses_one`. */
import type { AccountPrincipal } from '../../../foundation/principal.ts';
import type { AuditAction } from '../audit.ts';
import type { AuditRow } from '../chain.ts';
import type { Db } from '../../../foundation/database/db.ts';
import * as changes from '../../passkeys/change-store.ts';
import * as enrolment from '../../second-factors/enrolment-store.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { after } from './audited-factors.ts';

type Event = Omit<AuditRow, 'at'>;
type PasskeyAction = Exclude<
  Extract<AuditAction, `passkey.${string}` | `authenticator.${string}`>,
  'passkey.counter_regressed'
>;

const ada: AccountPrincipal = { kind: 'account', accountId: 'acc_ada', sessionId: 'ses_one' };
const gone: AccountPrincipal = { ...ada, sessionId: 'ses_gone' };
const sealed = keys.secondFactorSeal.seal('acc_ada', 'SECRET');
const code = keys.oneTimeCodeHash.stored('a');
const passkey = {
  id: 'pas_one',
  accountId: 'acc_ada',
  credentialId: Buffer.from('credential'),
  publicKey: Buffer.from('key'),
  counter: 0,
  rpId: 'localhost',
  transports: 'internal',
  isBackedUp: true,
  name: 'laptop',
  now,
};

const add = (db: Db, principal = ada): Promise<unknown> =>
  changes.addPasskey(db, principal, {
    passkey,
    challenge: { mac: Buffer.from('challenge'), expiresAt: now },
    codeHashes: [code],
    mail: undefined,
  });
const rename = (db: Db, principal = ada): Promise<unknown> =>
  changes.renamePasskey(db, principal, { id: 'pas_one', name: 'phone', now });
const remove = (db: Db, principal = ada): Promise<unknown> =>
  changes.removePasskey(db, principal, { id: 'pas_one', mailAbout: () => undefined, now });
const addApp = async (db: Db): Promise<void> => {
  await enrolment.beginEnrolment(db, ada, sealed, now);
  await enrolment.confirmEnrolment(db, ada, { sealed, step: 10, codeHashes: [], mail: undefined, now });
};
const removeApp = (db: Db, principal = ada): Promise<void> =>
  enrolment.removeOwnFactor(db, principal, {
    proof: { kind: 'totp', step: 11 },
    mailAbout: () => undefined,
    now,
  });

const event = (action: AuditAction, target = 'acc_ada', details: string | null = null): Event => ({
  actor: 'account:acc_ada',
  action,
  accountId: 'acc_ada',
  target,
  details,
});
const named = (action: AuditAction, name = 'laptop'): Event => event(action, 'pas_one', JSON.stringify({ name }));
const first = [named('passkey.added'), event('second_factor.added')];

export const passkeyOperations = {
  'passkey.added': { change: add, rows: first, refused: (db: Db) => add(db, gone) },
  'passkey.renamed': {
    change: after(add, rename),
    rows: [...first, named('passkey.renamed', 'phone')],
    refused: (db: Db) => rename(db, gone),
  },
  'passkey.removed': {
    change: after(add, remove),
    rows: [...first, named('passkey.removed'), event('second_factor.removed')],
    refused: (db: Db) => remove(db, gone),
  },
  'authenticator.removed': {
    change: after(add, addApp, removeApp),
    rows: [...first, event('second_factor.begun'), event('second_factor.added'), event('authenticator.removed')],
    refused: (db: Db) => removeApp(db, gone),
  },
} as const satisfies Record<PasskeyAction, unknown>;
