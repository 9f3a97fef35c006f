/**
 * Issues short-lived secrets of keys without a secret, when the client has proved who it is. The conditions that every exchange
 * has are here: of the key and its account, and of what proved the client.
 */
import { limits, shortLivedSecretPrefix } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import type { AddressRanges } from '../api-keys/addresses.ts';
import { makeKey } from '../api-keys/key-format.ts';
import type { ExchangeState } from './exchange-store.ts';

export interface IssuedSecret {
  readonly secret: Secret;
  readonly expiresInSeconds: number;
}

/** The public key or the trust of the key that the client has proved. */
export interface Prover {
  readonly lookup: number;
  /** The end of its overlap; null for the current one. */
  readonly endsAt: number | null;
}

export const currentOf = ({ lookup }: ExchangeState): Prover => ({ lookup, endsAt: null });

/** Undefined if there is none. */
export const previousOf = ({ previousLookup, previousEndsAt }: ExchangeState): Prover | undefined =>
  previousLookup === null ? undefined : { lookup: previousLookup, endsAt: previousEndsAt };

/**
 * When a secret that is issued now ends: it does not outlive its key, and what proved the client.
 * @param tokenEndsAt the end of an identity token
 */
export const endOf = (
  { expiresAt }: ExchangeState,
  { endsAt }: Prover,
  now: number,
  tokenEndsAt: number = Infinity,
): number =>
  Math.min(
    now + limits.shortLivedSecretSeconds * 1_000,
    expiresAt ?? Infinity,
    endsAt ?? Infinity,
    // The database stores whole milliseconds. RFC 7519 allows fractions of them.
    Math.floor(tokenEndsAt),
  );

export const secondsUntil = (end: number, now: number): number => Math.floor((end - now) / 1_000);

/** Why the key issues no secret that ends then. */
export function reasonAgainst(
  { accountDisabledAt, disabledAt, addresses }: ExchangeState,
  { end, now, clientIp }: { readonly end: number; readonly now: number; readonly clientIp: string },
  ranges: AddressRanges,
): 'disabled' | 'expired' | 'address' | undefined {
  if (accountDisabledAt !== null || disabledAt !== null) return 'disabled';
  if (secondsUntil(end, now) < 1) return 'expired';
  return addresses !== null && !ranges.contain(addresses, clientIp) ? 'address' : undefined;
}

/**
 * Whether what proves the client may have been used before the last restore, which lost the record of its use.
 * @param issuedAt seconds since 1970, by a clock that is ahead by at most `skewSeconds`
 */
export const mayPrecedeRestore = (
  { restoredAt }: Pick<ExchangeState, 'restoredAt'>,
  issuedAt: number,
  skewSeconds: number,
): boolean => restoredAt !== null && issuedAt * 1_000 < restoredAt + skewSeconds * 1_000;

/** A new secret and its stored hash. */
export function newSecret(hash: KeyedHash): { readonly secret: Secret; readonly stored: Buffer } {
  const secret = makeKey(shortLivedSecretPrefix);
  return { secret, stored: hash.stored(secret.reveal()) };
}
