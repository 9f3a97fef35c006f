/**
 * Changes of second factors and their events, for `audit.test.ts`. They start from an account with the session
 * `ses_one`.
 */
import type { AccountPrincipal } from '../../../foundation/principal.ts';
import type { AuditAction } from '../audit.ts';
import type { AuditRow } from '../chain.ts';
import type { Db } from '../../../foundation/database/db.ts';
import * as enrolment from '../../second-factors/enrolment-store.ts';
import { redeemProofTx, type FactorProof } from '../../second-factors/second-factors.ts';
import { keys, now } from '../../../../test-kit/rows.ts';

type Event = Omit<AuditRow, 'at'>;
type FactorAction = Extract<AuditAction, `second_factor.${string}` | `recovery_code${string}`>;

const ada: AccountPrincipal = { kind: 'account', accountId: 'acc_ada', sessionId: 'ses_one' };
const gone: AccountPrincipal = { ...ada, sessionId: 'ses_gone' };
const sealed = keys.secondFactorSeal.seal('acc_ada', 'SECRET');
const hash = keys.oneTimeCodeHash.stored('a');
const proof: FactorProof = { kind: 'totp', step: 11 };

const removal = { proof, mailAbout: () => undefined, now };

const begin = (db: Db, principal = ada): Promise<boolean> => enrolment.beginEnrolment(db, principal, sealed, now);
const confirm = (db: Db): Promise<unknown> =>
  enrolment.confirmEnrolment(db, ada, { sealed, step: 10, codeHashes: [hash], mail: undefined, now });
const take = (db: Db, code: Uint8Array): Promise<unknown> =>
  db.transaction((tx) => redeemProofTx(tx, ada, { kind: 'recovery_code', hash: code }, { now, from: null }));

/** Runs transactions one after another. The test checks the last one. */
export const after =
  (...steps: readonly ((db: Db) => Promise<unknown>)[]) =>
  async (db: Db): Promise<void> => {
    for (const step of steps) await step(db);
  };

const event = (action: FactorAction, target: string | null = 'acc_ada', details: string | null = null): Event => ({
  actor: 'account:acc_ada',
  action,
  accountId: 'acc_ada',
  target,
  details,
});
const [begun, added] = [event('second_factor.begun'), event('second_factor.added')];

export const factorOperations = {
  'second_factor.begun': { change: begin, rows: [begun], refused: (db: Db) => begin(db, gone) },
  'second_factor.added': { change: after(begin, confirm), rows: [begun, added], refused: confirm },
  'second_factor.removed': {
    change: after(begin, confirm, (db) => enrolment.removeOwnFactor(db, ada, removal)),
    rows: [begun, added, event('second_factor.removed')],
    refused: (db: Db) => enrolment.removeOwnFactor(db, ada, removal),
  },
  'recovery_codes.replaced': {
    change: after(begin, confirm, (db) => enrolment.replaceCodes(db, ada, { proof, codeHashes: [], now })),
    rows: [begun, added, event('recovery_codes.replaced')],
    refused: (db: Db) => enrolment.replaceCodes(db, ada, { proof, codeHashes: [], now }),
  },
  'recovery_code.used': {
    change: after(begin, confirm, (db) => take(db, hash)),
    rows: [begun, added, event('recovery_code.used', null, `{"left":0,"code":"${hash.toString('hex')}"}`)],
    refused: (db: Db) => take(db, hash),
  },
} as const satisfies Record<FactorAction, unknown>;
