/** The last identity tokens of a key with a trust: what its owner sees of accepted and rejected ones. */
import { limits, type KeyTokens as ShownTokens, type TokenRejection } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import type { Core } from '../../foundation/core.ts';
import type { KeyChanges } from '../api-keys/changes.ts';
import type { TrustedClaims } from '../issuers/matching.ts';
import { claimAt } from '../issuers/matching.ts';
import { isRecordingRefused, listKeyTokens, recordKeyTokenTx, type KeyTokenRow } from './key-token-store.ts';
import { lockKeyForExchangeTx } from './store.ts';

export interface KeyTokensOptions extends Core {
  readonly keyChanges: Pick<KeyChanges, 'read'>;
}

type Claims = Readonly<Record<string, unknown>>;

export class KeyTokens {
  readonly #options: KeyTokensOptions;

  constructor(options: KeyTokensOptions) {
    this.#options = options;
  }

  /** @throws DomainError `not_key_owner`, `key_not_found` */
  async list(accountId: string, id: number): Promise<ShownTokens> {
    const { db, keyChanges } = this.#options;
    await keyChanges.read(accountId, id);
    const rows = await listKeyTokens(db, id);
    return {
      accepted: rows.filter(({ isAccepted }) => isAccepted === 1).map(toShown),
      rejected: rows
        .filter(({ isAccepted }) => isAccepted === 0)
        .map((row) => ({
          ...toShown(row),
          reason: row.reason as TokenRejection,
          claims: JSON.parse(row.claims ?? '{}') as Record<string, unknown>,
        })),
    };
  }
}

const toShown = ({ at, issuer, subject }: KeyTokenRow) => ({ at: toInstant(at), issuer, subject });

/** A token that was accepted now. */
export const acceptedRow = (issuer: string, claims: Claims, at: number): KeyTokenRow => ({
  isAccepted: 1,
  at,
  issuer,
  subject: subjectOf(claims),
  reason: null,
  claims: null,
});

/** A token with a valid signature and audience that was rejected now. */
export const rejectedRow = (
  issuer: string,
  { claims, trusted }: { readonly claims: Claims; readonly trusted: TrustedClaims },
  reason: TokenRejection,
  at: number,
): KeyTokenRow => ({
  isAccepted: 0,
  at,
  issuer,
  subject: subjectOf(claims),
  reason,
  claims: boundedClaims(claims, trusted),
});

/** Writes nothing while the rows of the key are too new: a read decides. */
export async function recordRejected(db: Core['db'], keyId: number, row: KeyTokenRow): Promise<void> {
  if (isRecordingRefused(await listKeyTokens(db, keyId), row)) return;
  await db.transaction(async (tx) => {
    await lockKeyForExchangeTx(tx, keyId);
    await recordKeyTokenTx(tx, keyId, row);
  });
}

const subjectOf = ({ sub }: Claims): string | null =>
  typeof sub === 'string' ? sub.slice(0, limits.trustClaimCharsMax) : null;

/** @returns JSON: all claims, or those that the trust names as far as they fit, by their pointers */
function boundedClaims(claims: Claims, trusted: TrustedClaims): string {
  const all = JSON.stringify(claims);
  if (isBounded(all)) return all;
  let bounded = '{}';
  const kept: Record<string, unknown> = {};
  for (const pointer of Object.keys(trusted)) {
    const text = JSON.stringify({ ...kept, [pointer]: claimAt(claims, pointer) });
    if (!isBounded(text)) continue;
    kept[pointer] = claimAt(claims, pointer);
    bounded = text;
  }
  return bounded;
}

const isBounded = (text: string): boolean => Buffer.byteLength(text) <= limits.rejectedTokenBytesMax;
