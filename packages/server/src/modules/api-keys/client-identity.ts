/**
 * What a key has instead of a secret, so that its clients prove who they are in an exchange: the public key of a client, or the
 * trust in the identity tokens of an issuer.
 */
import type { PublicKey, Trust, TrustBody } from '@keyreeve/contract';
import type { Reader } from '../../foundation/database/db.ts';
import type { AuditDetails } from '../audit/audit.ts';
import { invalidPublicKey, parsePublicKey, thumbprintOf, toPublicKey } from './public-key.ts';
import { invalidTrust, parseTrust, toShownTrust, toTrust, type Audiences } from './trust.ts';

/** In the stored forms. All members of a key with a secret are null. */
export interface ClientIdentity {
  readonly publicKey: string | null;
  readonly trust: string | null;
  /** Of the issuer of the trust, which may have been removed. */
  readonly issuerId: number | null;
}

export const noIdentity: ClientIdentity = { publicKey: null, trust: null, issuerId: null };

/** As a request has it: exactly one member. */
export interface GivenIdentity {
  /** A JWK. */
  readonly publicKey?: unknown;
  readonly trust?: TrustBody | undefined;
}

type Kind = 'secret' | 'publicKey' | 'trust';
const names: Readonly<Record<Kind, string>> = { secret: 'secret', publicKey: 'public key', trust: 'trust' };
const errorOf = { publicKey: invalidPublicKey, trust: invalidTrust } as const;

/** Stored or as responses show them: null for what the key does not have. */
interface Held {
  readonly publicKey: unknown;
  readonly trust: unknown;
}

const kindOf = ({ publicKey, trust }: Held): Kind => {
  if (publicKey !== null) return 'publicKey';
  return trust === null ? 'secret' : 'trust';
};

/** What a key has, in messages. */
export const nameOfKind = (of: Held): string => names[kindOf(of)];

/**
 * @param accountId of the key
 * @throws DomainError `invalid_request` unless exactly one is given; as `parsePublicKey` and `parseTrust`
 */
export async function parseIdentity(
  reader: Pick<Reader, 'all'>,
  accountId: string,
  { publicKey, trust }: GivenIdentity,
  audiences: Audiences,
): Promise<ClientIdentity> {
  if (trust === undefined) {
    if (publicKey === undefined) throw invalidPublicKey('Either publicKey or trust is required.');
    return { ...noIdentity, publicKey: parsePublicKey(publicKey) };
  }
  if (publicKey !== undefined) throw invalidTrust('Not allowed with publicKey: a key has only one of them.');
  return { ...noIdentity, ...(await parseTrust(reader, accountId, trust, audiences)) };
}

/**
 * Whether a rotation replaces what the key has: the kind of a key never changes.
 * @param given absent members for a new secret
 * @throws DomainError `invalid_request`
 */
export function assertSameKind(before: ClientIdentity, given: GivenIdentity): void {
  const kind = kindOf(before);
  if (kind !== 'secret' && given[kind] === undefined && given.publicKey === undefined && given.trust === undefined)
    throw errorOf[kind](`This field is required, because the key has a ${names[kind]} and no secret.`);
  for (const other of ['publicKey', 'trust'] as const)
    if (other !== kind && given[other] !== undefined)
      throw errorOf[other](`The key has a ${names[kind]}. Create another key for a ${names[other]}.`);
}

/**
 * One that is both current and previous would stay valid after the end of the overlap.
 * @param previous that of an overlap; undefined without one
 * @throws DomainError `invalid_request`
 */
export function assertNewIdentity(next: ClientIdentity, current: ClientIdentity, previous?: ClientIdentity): void {
  const kind = kindOf(next);
  if (kind === 'secret') return;
  const name = names[kind];
  if (isSame(next, current)) throw errorOf[kind](`This is the current ${name}.`);
  if (previous && isSame(next, previous))
    throw errorOf[kind](`This is the previous ${name}, which is valid until the overlap ends.`);
}

/** An issuer that was removed and declared again is another one. */
const isSame = (one: ClientIdentity, other: ClientIdentity): boolean =>
  one.publicKey === other.publicKey && one.trust === other.trust && one.issuerId === other.issuerId;

/** Of an audit event. The thumbprint (RFC 7638) identifies a public key. */
export function identityDetails({ publicKey, trust }: ClientIdentity): AuditDetails {
  if (publicKey !== null) return { publicKey: thumbprintOf(publicKey) };
  return trust === null ? {} : { trust: { ...toTrust(trust) } };
}

/** Of the audit event of a rotation. */
export function replacedDetails(before: ClientIdentity): AuditDetails {
  const { publicKey, trust } = identityDetails(before);
  if (publicKey !== undefined) return { publicKeyBefore: publicKey };
  return trust === undefined ? {} : { trustBefore: trust };
}

/** As responses show it. @param of.hasIssuer 1 while the issuer of the trust exists */
export const toShownIdentity = (of: {
  readonly publicKey: string | null;
  readonly trust: string | null;
  readonly hasIssuer: number;
}): { publicKey: PublicKey | null; trust: Trust | null } => ({
  publicKey: of.publicKey === null ? null : toPublicKey(of.publicKey),
  trust: of.trust === null ? null : toShownTrust(of.trust, of.hasIssuer === 1),
});
