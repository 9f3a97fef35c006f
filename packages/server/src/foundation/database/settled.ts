/** Waits before changes that remove rights: after a promotion, another process may still read the earlier primary. */
import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../errors.ts';
import type { DatabaseWaits } from './database-waits.ts';
import type { PrimaryProof, ServerIdentity } from './primary-proof.ts';
import { systemOwner, type Share } from './share.ts';

/** Milliseconds. Meanwhile, another process may turn out to have waited. */
const lookEveryMs = 250;

/**
 * A command and the housekeeping wait as long as necessary, a request only for the time of a response of the database.
 * @throws DomainError `unavailable`
 */
export async function untilSettled(
  proof: PrimaryProof,
  { owner }: Share,
  { answerMsMax }: DatabaseWaits,
): Promise<void> {
  if (owner !== systemOwner && proof.unsettledMs > answerMsMax) throw unsettled(proof);
  while (proof.unsettledMs > 0) await sleep(Math.min(lookEveryMs, proof.unsettledMs));
}

/** @throws DomainError `unavailable` */
export function assertSettled(proof: PrimaryProof, server: ServerIdentity | undefined): void {
  if (!server || !proof.isSettled(server)) throw unsettled(proof);
}

function unsettled(proof: PrimaryProof): DomainError {
  const cause = new Error('after the promotion of a PostgreSQL server, another process may still read the earlier one');
  return new DomainError('unavailable', { cause, retryAfterSeconds: Math.max(1, Math.ceil(proof.unsettledMs / 1000)) });
}
