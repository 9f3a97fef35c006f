/** Validates the settings of an issuer that a request or a file states. */
import {
  issuerDefaults,
  issuerPresets,
  limits,
  presetOfUrl,
  type IssuerChangeBody,
  type IssuerPreset,
  type NewIssuerBody,
} from '@keyreeve/contract';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { RefusedTarget, type AddressGuard } from '../../foundation/outgoing/address-guard.ts';
import type { IssuerSettings } from './issuer.ts';
import { keySetOf, privateMemberIn } from './key-set.ts';

export interface RequestedIssuer {
  readonly url: string;
  readonly preset: string | null;
  readonly settings: IssuerSettings;
}

/** @throws DomainError `issuer_url_refused`, `invalid_request` */
export function requestedIssuer({ url, ...request }: NewIssuerBody, guard: AddressGuard): RequestedIssuer {
  const preset = request.preset ?? presetOfUrl(url) ?? null;
  const defaults: IssuerPreset = preset === null ? issuerDefaults : issuerPresets[preset];
  const settings = {
    algorithms: request.algorithms ?? defaults.algorithms,
    lifetimeSeconds: request.lifetimeSeconds ?? limits.issuerLifetimeSeconds,
    replay: request.replay ?? defaults.replay,
    idClaims: request.idClaims ?? defaults.idClaims,
    listClaims: request.listClaims ?? defaults.listClaims,
    jwks: request.jwks === undefined ? null : storedKeySet(request.jwks),
  };
  assertIssuerUrl(url, settings.jwks === null ? guard : undefined);
  assertNoIdList(settings);
  return { url, preset, settings };
}

/** @throws DomainError `issuer_url_refused`, `invalid_request` */
export function changedSettings(
  url: string,
  before: IssuerSettings,
  { jwks, ...change }: IssuerChangeBody,
  guard: AddressGuard,
): IssuerSettings {
  const after = {
    algorithms: change.algorithms ?? before.algorithms,
    lifetimeSeconds: change.lifetimeSeconds ?? before.lifetimeSeconds,
    replay: change.replay ?? before.replay,
    idClaims: change.idClaims ?? before.idClaims,
    listClaims: change.listClaims ?? before.listClaims,
    jwks: jwks === undefined ? before.jwks : jwks && storedKeySet(jwks),
  };
  if (before.jwks !== null && after.jwks === null) assertIssuerUrl(url, guard);
  assertNoIdList(after);
  return after;
}

/**
 * The URL is stored as it is written, because it is compared with the claim `iss` character for character. So it must have the
 * only form that a URL parser leaves unchanged.
 * @param guard absent for an issuer whose JWK set is not fetched
 * @throws DomainError `issuer_url_refused`
 */
export function assertIssuerUrl(text: string, guard?: AddressGuard): void {
  const url = text.length <= limits.issuerUrlCharsMax && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw refused('it must be like https://token.actions.githubusercontent.com, without a user and a password');
  if (/[?#]/.test(text)) throw refused('it must not have a query or a fragment');
  if (url.hostname.endsWith('.')) throw refused('its name must not end with a dot');
  const hasPath = url.pathname !== '/' || text.endsWith('/');
  const canonical = hasPath ? url.href : url.href.slice(0, -1);
  if (text !== canonical) throw refused(`it must be written as ${canonical}`);
  try {
    guard?.assertPossible(url);
  } catch (error) {
    if (error instanceof RefusedTarget) throw refused(error.message);
    throw error;
  }
}

const refused = (why: string): DomainError =>
  new DomainError('issuer_url_refused', { detail: `The URL of the issuer is not allowed: ${why}.` });

/** An element of a list does not identify a workload. @throws DomainError `invalid_request` */
function assertNoIdList({ idClaims, listClaims }: IssuerSettings): void {
  const index = listClaims.findIndex((claim) => idClaims.includes(claim));
  if (index >= 0) throw invalidAt(`/listClaims/${index}`, 'An id claim cannot be a list.');
}

/** RFC 7517 sections 4 and 5, RFC 7518 section 6. */
const publicMembers = ['kty', 'kid', 'use', 'key_ops', 'alg', 'crv', 'n', 'e', 'x', 'y'] as const;

/** @returns the set with the known public members of its keys @throws DomainError `invalid_request` */
function storedKeySet({ keys }: { readonly keys: readonly object[] }): { readonly keys: readonly object[] } {
  // First: the client may take another error for the only one, and send the private key again.
  const secret = privateMemberIn(keys);
  if (secret !== undefined)
    throw invalidAt(
      `/jwks${secret}`,
      'This member belongs to a private or symmetric key, which the client must not send. Send only public keys.',
    );
  const stored = {
    keys: keys.map((jwk) =>
      Object.fromEntries(
        publicMembers.flatMap((name) => (Object.hasOwn(jwk, name) ? [[name, jwk[name as keyof typeof jwk]]] : [])),
      ),
    ),
  };
  if (Buffer.byteLength(JSON.stringify(stored)) > limits.issuerFixedKeySetBytesMax)
    throw invalidAt('/jwks', `Expected at most ${limits.issuerFixedKeySetBytesMax} bytes of JSON.`);
  try {
    keySetOf(stored);
  } catch (error) {
    throw invalidAt('/jwks', `The JWK set ${error instanceof Error ? error.message : 'is malformed'}.`);
  }
  return stored;
}
