/** Changes by administrators and their events, for `audit.test.ts`. */
import * as accounts from '../../accounts/store.ts';
import { confirmAccountEmail } from '../../accounts/unconfirmed-email-store.ts';
import * as admin from '../../administration/store.ts';
import { recoverAccountTx, type Recovery } from '../../administration/recover-account.ts';
import type { NewCode } from '../../one-time-codes/store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import type { ChangeKind } from '../../deletion-journal/revocation.ts';
import { repeatChangesTx } from '../../backup/replay-changes.ts';
import { Mailer } from '../../mail/mail.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { SignInLimits } from '../../rate-limits/sign-in-limits.ts';
import { hashOf, keys, now, operator } from '../../../../test-kit/rows.ts';
import { setAccountRole } from '../../../../test-kit/store-changes.ts';

const act = { principal: operator, now };
const byMail = (purpose: NewCode['purpose'], accountId: string) => ({
  code: { hash: hashOf(`${purpose} ${accountId}`), purpose, accountId, now, expiresAt: now + 1 },
  mail: undefined,
});
const recoveryOf = (db: Db, id: string): Recovery => {
  const clock = new FakeClock();
  const outbox = new Outbox({ db, clock, seal: keys.outboxSeal });
  const signInLimits = new SignInLimits({
    db,
    clock,
    bucketHash: keys.rateLimitBucket,
    ipRangeLimits: [],
    enabled: false,
  });
  return {
    id,
    to: {},
    codeTo: () => byMail('reset_password', id),
    mailer: new Mailer(outbox, false),
    signInLimits,
    now,
  };
};
const row = (action: string, accountId: string, details: string | null = null, target = accountId) => ({
  actor: 'operator',
  action,
  accountId,
  target,
  details,
});
const invited = {
  id: 'acc_new',
  email: 'new@example.com',
  canonicalEmail: 'new@example.com',
  passwordHash: '',
  now,
} as const;

/** Repeats a change as a restore does. */
const repeat = (db: Db, kind: ChangeKind, id = 'acc_ada') =>
  db.transaction((tx) => repeatChangesTx(tx, kind, [{ id, at: now + 1 }], now));
const repeated = (action: string) => ({
  ...row(action, 'acc_ada', '{"by":"deletion_journal"}'),
  actor: 'system',
});

/** Each uses the rows of `prepare` in `audit.test.ts`. */
export const administration = {
  'account.password_voided': {
    change: (db: Db) => repeat(db, 'password_changed'),
    rows: [repeated('account.password_voided')],
    refused: (db: Db) => repeat(db, 'password_changed', 'acc_unknown'),
  },
  'account.email_confirmation_required': {
    change: (db: Db) => repeat(db, 'email_changed'),
    rows: [repeated('account.email_confirmation_required')],
    refused: (db: Db) => repeat(db, 'email_changed', 'acc_unknown'),
  },
  'account.email_confirmed': {
    change: async (db: Db) => {
      await repeat(db, 'email_changed');
      await confirmAccountEmail(db, operator, 'acc_ada', now + 1);
    },
    rows: [repeated('account.email_confirmation_required'), row('account.email_confirmed', 'acc_ada')],
    refused: (db: Db) => confirmAccountEmail(db, operator, 'acc_ada', now),
  },
  'account.invited': {
    change: (db: Db) => {
      const account = { ...invited, role: 'user', isUnverified: true } as const;
      return db.transaction((tx) =>
        admin.inviteAccountTx(tx, operator, account, byMail('accept_invitation', 'acc_new')),
      );
    },
    rows: [
      { ...row('account.created', 'acc_new', '{"role":"user"}'), target: null },
      row('account.invited', 'acc_new'),
    ],
    refused: (db: Db) => admin.inviteAgain(db, act, 'acc_ada', () => byMail('accept_invitation', 'acc_ada')),
  },
  'account.role_changed': {
    change: (db: Db) => setAccountRole(db, operator, { id: 'acc_ada', role: 'admin', now }),
    rows: [row('account.role_changed', 'acc_ada', '{"role":"admin"}')],
    refused: (db: Db) => setAccountRole(db, operator, { id: 'acc_ada', role: 'user', now }),
  },
  'account.limits_set': {
    change: (db: Db) =>
      admin.changeLimits({ db }, act, 'acc_ada', () => '{"rate":null,"quota":{"limit":5,"per":"day"}}'),
    rows: [
      row(
        'account.limits_set',
        'acc_ada',
        '{"limitsBefore":null,"limits":{"rate":null,"quota":{"limit":5,"per":"day"}}}',
      ),
    ],
    refused: (db: Db) => admin.changeLimits({ db }, act, 'acc_ada', () => null),
  },
  'account.sessions_ended': {
    change: (db: Db) => accounts.endAccountSessions(db, act, 'acc_ada'),
    rows: [row('account.sessions_ended', 'acc_ada')],
    refused: (db: Db) => accounts.endAccountSessions(db, act, 'acc_unknown'),
  },
  'account.second_factor_required': {
    change: (db: Db) => accounts.requireSecondFactor(db, act, 'acc_ada', true),
    rows: [row('account.second_factor_required', 'acc_ada')],
    refused: (db: Db) => accounts.requireSecondFactor(db, act, 'acc_unknown', true),
  },
  'account.second_factor_waived': {
    change: async (db: Db) => {
      await accounts.requireSecondFactor(db, act, 'acc_ada', true);
      return accounts.requireSecondFactor(db, { principal: operator, now: now + 1 }, 'acc_ada', false);
    },
    rows: [row('account.second_factor_required', 'acc_ada'), row('account.second_factor_waived', 'acc_ada')],
    refused: (db: Db) => accounts.requireSecondFactor(db, act, 'acc_ada', false),
  },
  'account.password_reset_requested': {
    change: (db: Db) => admin.sendReset(db, act, 'acc_ada', () => byMail('reset_password', 'acc_ada')),
    rows: [row('account.password_reset_requested', 'acc_ada')],
    refused: (db: Db) => admin.sendReset(db, act, 'acc_unknown', () => byMail('reset_password', 'acc_unknown')),
  },
  'account.compromised': {
    change: (db: Db) => db.transaction((tx) => recoverAccountTx(tx, operator, recoveryOf(db, 'acc_ada'))),
    rows: [row('account.compromised', 'acc_ada'), row('api_key.deleted', 'acc_ada', '{"nickname":"held"}', '42')],
    refused: (db: Db) => db.transaction((tx) => recoverAccountTx(tx, operator, recoveryOf(db, 'acc_unknown'))),
  },
} as const;
