/** The last step of a sign-in: one transaction creates the session, uses the one-time code and queues the mail. */
import { limits } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { AuthenticatedAccount } from '../accounts/accounts.ts';
import { findAccount } from '../accounts/store.ts';
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { recordingChanges } from '../deletion-journal/run-narrowing.ts';
import type { Revocations } from '../deletion-journal/revocation.ts';
import { DomainError } from '../../foundation/errors.ts';
import { coarseRange } from '../../foundation/ip-address.ts';
import { queueMailTx, type Mailer } from '../mail/mail.ts';
import { redeemPasskeyTx, type PasskeyProof } from '../passkeys/sign-ins.ts';
import { redeemProofTx, type FactorProof, type FactorUse } from '../second-factors/second-factors.ts';
import { createSessionTx, type NewSession } from '../sessions/store.ts';

/** The client that signs in. */
export interface Client {
  readonly clientIp: string;
  /** The User-Agent header; empty without one. */
  readonly userAgent: string;
}

/** An OpenID provider has authenticated the person. */
export interface ProviderProof {
  readonly kind: 'single_sign_on';
  /** Of the identity at the provider. */
  readonly identityId: string;
  /** Called in the transaction of the session, after its creation. Throws DomainError. */
  readonly redeemTx: (tx: Transaction, sessionId: string) => Promise<void>;
}

/** Proof of the second factor, or of a passkey or a provider that replaces the password. */
export type Proof = FactorProof | PasskeyProof | ProviderProof;

export interface SessionStart {
  readonly account: AuthenticatedAccount;
  readonly session: Omit<NewSession, 'accountId' | 'accountEpoch' | 'details'>;
  /** Undefined when the account has no second factor. */
  readonly proof: Proof | undefined;
  /** Consecutive failed sign-ins before this one. */
  readonly failures: number;
  readonly sessionsMax: number;
  /** Undefined without a deletion journal. */
  readonly revocations: Revocations | undefined;
}

/**
 * @param succeedTx called in the same transaction; its first statements are sent together with those of the session
 * @throws DomainError `invalid_credentials` when the account has changed since its password was checked,
 *   `second_factor_invalid` when another request used the one-time code first, `passkey_rejected` when one used the
 *   challenge of the passkey first, or the error of `succeedTx` or of the proof; nothing is stored then
 */
export async function startSession(
  db: Db,
  mailer: Mailer,
  start: SessionStart,
  succeedTx: (tx: Transaction) => Promise<void>,
): Promise<void> {
  const { account, session, proof, failures, sessionsMax, revocations } = start;
  const { id: sessionId, now } = session;
  const principal: AccountPrincipal = { kind: 'account', accountId: account.id, sessionId };
  const isSuspicious = failures >= limits.suspiciousFailures;
  const isMailed = mailer.isConfigured && (isSuspicious || proof?.kind === 'recovery_code');
  const to = isMailed ? (await findAccount(db, account.id, ''))?.email : undefined;
  const details = {
    ...(session.kind === undefined ? {} : { kind: session.kind }),
    ...(proof ? factorDetails(proof) : {}),
    ...(isSuspicious ? { failuresBefore: failures } : {}),
  };
  const row: NewSession = { ...session, accountId: account.id, accountEpoch: account.sessionEpoch, details };
  const createTx = async (tx: Transaction): Promise<void> => {
    await allInOrder([createSessionTx(tx, row, sessionsMax), succeedTx(tx)]);
    const used = proof && (await redeemTx(tx, principal, proof, { now, from: coarseRange(session.clientIp) }));
    if (to !== undefined) await queueMailsTx(tx, mailer, to, { row, failures: isSuspicious ? failures : 0, ...used });
  };
  await (proof?.kind === 'recovery_code'
    ? recordingChanges(revocations, { accountId: account.id, at: now }, () => db.transaction(createTx))
    : db.transaction(createTx));
  if (to !== undefined) mailer.sendSoon();
}

/** @returns the number of remaining recovery codes, if a recovery code was used @throws DomainError `second_factor_invalid`, `passkey_rejected` */
async function redeemTx(
  tx: Transaction,
  principal: AccountPrincipal,
  proof: Proof,
  use: FactorUse,
): Promise<{ readonly codesLeft?: number }> {
  if (proof.kind === 'passkey') {
    await redeemPasskeyTx(tx, proof, use);
    return {};
  }
  if (proof.kind === 'single_sign_on') {
    await proof.redeemTx(tx, principal.sessionId);
    return {};
  }
  const used = await redeemProofTx(tx, principal, proof, use);
  if (!used) throw new DomainError('second_factor_invalid');
  return used;
}

/** For the audit event. */
function factorDetails(proof: Proof) {
  if (proof.kind === 'single_sign_on') return { identity: proof.identityId };
  if (proof.kind !== 'passkey') return { secondFactor: proof.kind };
  return { ...(proof.isAlone ? {} : { secondFactor: proof.kind }), passkey: proof.passkeyId };
}

async function queueMailsTx(
  tx: Transaction,
  mailer: Mailer,
  to: string,
  { row, failures, codesLeft }: { row: NewSession; failures: number; codesLeft?: number },
): Promise<void> {
  const { clientIp, userAgent } = row;
  const at = toInstant(row.now);
  if (codesLeft !== undefined) {
    const data = { at, clientIp, remaining: codesLeft };
    await queueMailTx(tx, mailer.prepare({ to, template: 'recovery_code_used', data }));
  }
  if (failures > 0) {
    const data = { at, clientIp, userAgent, failures };
    await queueMailTx(tx, mailer.prepare({ to, template: 'suspicious_sign_in', data }));
  }
}

/** The stored description of a client: printable characters only, and bounded. */
export const describeClient = ({ clientIp, userAgent }: Client): Client => ({
  clientIp: printable(clientIp).slice(0, limits.addressCharsMax),
  userAgent: printable(userAgent).slice(0, limits.programCharsMax),
});

const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '');
