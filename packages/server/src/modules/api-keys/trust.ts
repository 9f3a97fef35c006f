/**
 * The trust of an API key: an issuer of identity tokens, the claims that a token must have, and its audience. Its stored form
 * is JSON with the claims in the order of their pointers, so that two equal trusts have the same text.
 */
import { limits, type Trust, type TrustBody } from '@keyreeve/contract';
import type { Reader } from '../../foundation/database/db.ts';
import { DomainError, type FieldError } from '../../foundation/errors.ts';
import { nameOf, toPointer, type ClaimValue, type TrustedClaims } from '../issuers/matching.ts';
import { findIssuersFor } from '../issuers/store.ts';

/** The members of the stored form, in their order. */
export interface StoredTrust {
  /** The URL. The column `issuer_id` decides which issuer with this URL. */
  readonly issuer: string;
  readonly audience: string;
  readonly claims: TrustedClaims;
}

export interface ParsedTrust {
  readonly trust: string;
  readonly issuerId: number;
}

/** Which audiences a trust may name. */
export interface Audiences {
  readonly publicUrl: string;
  /** `KEYREEVE_EXCHANGE_AUDIENCES`. */
  readonly others: readonly string[];
}

/** They have members of their own, or differ in each token. */
const excludedClaims: ReadonlySet<string> = new Set(['/iss', '/aud', '/exp', '/nbf', '/iat', '/jti']);

/**
 * @param accountId of the key, whose issuers precede those of all accounts
 * @throws DomainError `invalid_request` with a pointer below `/trust`: for an unknown issuer, a claim or audience that is not
 *   allowed, and for claims without an id claim of the issuer
 */
export async function parseTrust(
  reader: Pick<Reader, 'all'>,
  accountId: string,
  { issuer: url, claims: named, audience }: TrustBody,
  audiences: Audiences,
): Promise<ParsedTrust> {
  const claims = parseClaims(named);
  const allowed = allowedAudiences(audiences);
  if (audience !== undefined && !allowed.includes(audience))
    throw invalid(
      'audience',
      `Expected ${allowed.join(' or ')}. An operator allows others with KEYREEVE_EXCHANGE_AUDIENCES.`,
    );
  const [issuer] = await findIssuersFor(reader, accountId, url);
  if (!issuer)
    throw invalid(
      'issuer',
      'No issuer with this URL is declared for the account of the key. An administrator adds it.',
    );
  const ids = JSON.parse(issuer.idClaims) as string[];
  if (!ids.some((pointer) => Object.hasOwn(claims, pointer))) {
    const names = ids.map(nameOf).join(' or ');
    const detail = `Name ${names}: other claims can be those of another person’s workload, today or in future.`;
    throw invalid('claims', detail, names);
  }
  const trust: StoredTrust = { issuer: url, audience: audience ?? audiences.publicUrl, claims };
  return { trust: JSON.stringify(trust), issuerId: issuer.id };
}

/** @returns the values by pointer, in the order of the pointers */
function parseClaims(named: object): TrustedClaims {
  const entries = Object.entries(named);
  if (entries.length === 0) throw invalid('claims', 'Expected at least 1 claim.');
  if (entries.length > limits.trustClaimsMax)
    throw invalid('claims', `Expected at most ${limits.trustClaimsMax} claims, but found ${entries.length}.`);
  const parsed = entries.map(([name, value]) => [pointerOf(name), valueOf(name, value)] as const);
  const pointers = parsed.map(([pointer]) => pointer);
  const repeated = pointers.find((pointer, index) => pointers.indexOf(pointer) < index);
  if (repeated !== undefined) throw invalid('claims', `The claim ${nameOf(repeated)} is repeated.`);
  return Object.fromEntries(parsed.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function pointerOf(name: string): string {
  if (name.length > limits.trustClaimNameCharsMax)
    throw invalidClaim(name, `Expected a name of at most ${limits.trustClaimNameCharsMax} characters.`);
  const pointer = toPointer(name);
  if (pointer === undefined) throw invalidClaim(name, 'Expected the name of a claim or a JSON pointer (RFC 6901).');
  if (excludedClaims.has(pointer))
    throw invalidClaim(
      name,
      'A trust has no such claim: the issuer, the audience and the times of a token are always checked.',
    );
  return pointer;
}

function valueOf(name: string, value: unknown): ClaimValue {
  const charsMax = limits.trustClaimCharsMax;
  if (typeof value === 'string' && value.length > 0 && value.length <= charsMax && value.isWellFormed()) return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return value as ClaimValue;
  throw invalidClaim(name, `Expected a text of 1 to ${charsMax} characters, an integer or a boolean.`);
}

/** Those that a trust may name, and that a token may have. */
export const allowedAudiences = ({ publicUrl, others }: Audiences): string[] => [publicUrl, ...others];

/** @param stored {@link parseTrust} */
export const toTrust = (stored: string): StoredTrust => JSON.parse(stored) as StoredTrust;

/** As responses show it. @param hasIssuer whether its issuer still exists */
export function toShownTrust(stored: string, hasIssuer: boolean): Trust {
  const { issuer, claims, audience } = toTrust(stored);
  return { issuer, claims: { ...claims }, audience, issuerState: hasIssuer ? 'declared' : 'removed' };
}

const invalidClaim = (name: string, detail: string): DomainError => {
  const escaped = name.slice(0, limits.errorNameCharsMax).replaceAll('~', '~0').replaceAll('/', '~1');
  return invalid(`claims/${escaped}`, detail);
};

/** An error of the member `trust` of a request. */
export const invalidTrust = (detail: string): DomainError => invalid('', detail);

/** @param expected what the server would accept, for clients that show a sentence of their own */
function invalid(place: string, detail: string, expected?: string): DomainError {
  const pointer = place === '' ? '/trust' : `/trust/${place}`;
  const error: FieldError = { pointer, detail, ...(expected !== undefined && { expected }) };
  return new DomainError('invalid_request', { errors: [error] });
}
