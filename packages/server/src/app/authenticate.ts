/**
 * Authenticates callers: an account by its access token or the session cookie of the console, a service by an API key with
 * the scope `keyreeve:verify`, a backend by a management key, which is an API key with the scope `keyreeve:keys`, or a
 * revocation check from outside by its credential, which is an API key with the scope `keyreeve:canary`.
 */
import { limits, type RouteContract } from '@keyreeve/contract';
import { canaryScope, manageScope, verifyScope } from '../modules/api-keys/scopes.ts';
import type { AccountPrincipal, CanaryPrincipal, KeyPrincipal } from '../foundation/principal.ts';
import { DomainError } from '../foundation/errors.ts';
import type { CanaryAddress } from '../modules/canary-keys/address.ts';
import type { Tokens } from '../modules/tokens/tokens.ts';
import type { AcceptedKey, Conditions, Refused } from '../modules/verification/conditions.ts';
import type { Verifier } from '../modules/verification/verify.ts';
import { parseBasic } from '../http/basic-authentication.ts';
import type { RequestCredential } from '../http/request-credential.ts';
import type { AnyCaller, Route } from '../http/route.ts';
import type { ConsoleRequest } from '../modules/console/request-checks.ts';
import type { Console } from '../modules/console/routes.ts';

/**
 * @param isOpenBeforeEnrolment whether an account may call before it has enrolled a required second factor
 * @throws DomainError `missing_access_token`, `invalid_access_token`, `ambiguous_credentials`,
 *   `second_factor_enrolment_required`
 */
export async function authenticateAccount(
  tokens: Tokens,
  presented: RequestCredential,
  isOpenBeforeEnrolment = false,
): Promise<AccountPrincipal> {
  switch (presented.kind) {
    case 'bearer':
      return tokens.principalOf(presented.text, isOpenBeforeEnrolment);
    case 'ambiguous':
      throw new DomainError('ambiguous_credentials');
    case 'none':
      throw new DomainError('missing_access_token');
    case 'api_key_header':
    case 'basic':
    case 'malformed':
      throw new DomainError('invalid_access_token');
  }
}

export interface Authenticators {
  readonly tokens: Tokens;
  readonly verifier: Verifier;
  readonly canaryKeys: CanaryAddress;
}

/**
 * @param clientIp of the caller, whose key may be limited to IP ranges
 * @returns the account, the management key or the canary credential that calls; undefined if the route does not require one
 * @throws DomainError as {@link authenticateAccount}, {@link authenticateManagementKey} and
 *   {@link authenticateCanary}, `missing_credential`,
 *   `management_key_required`, `administrator_required`, `reauth_required`
 */
export async function callerOf(
  contract: RouteContract,
  authenticators: Authenticators,
  presented: RequestCredential,
  clientIp: Conditions['clientIp'],
): Promise<AnyCaller | undefined> {
  const { auth } = contract;
  const { tokens, verifier } = authenticators;
  if (auth === 'canary_credential') return authenticateCanary(authenticators, presented);
  if (auth === 'manager' && presented.kind === 'none') throw new DomainError('missing_credential');
  // A 401 would make a web client sign the person out.
  if (auth === 'management_key' && isAccessToken(presented))
    throw new DomainError('management_key_required', { detail: settingRequiresManagementKey });
  if (auth === 'management_key' || (auth === 'manager' && !isAccessToken(presented)))
    return authenticateManagementKey(verifier, presented, clientIp);
  if (auth !== 'administrator' && auth !== 'access_token' && auth !== 'manager') return undefined;
  return mayCall(contract, tokens, await authenticateAccount(tokens, presented, contract.isOpenBeforeEnrolment));
}

/**
 * @param request to a route of the console or to a mirrored route
 * @returns the account that calls; for a sign-in, that of the session to replace, if there is one
 * @throws DomainError `console_session_required`, `second_factor_enrolment_required`, `administrator_required`,
 *   `reauth_required`
 */
export async function consoleCallerOf(
  { contract, isMirrored }: Route,
  tokens: Tokens,
  { sessions }: Console,
  { cookie, isPersonsAction }: ConsoleRequest,
): Promise<AnyCaller | undefined> {
  if (contract.auth === 'console_sign_in') return sessions.find(cookie, isPersonsAction);
  const caller = await sessions.find(cookie, isPersonsAction);
  if (!caller) throw new DomainError('console_session_required');
  if (!isMirrored) return caller;
  if (caller.session.mustEnrol && !contract.isOpenBeforeEnrolment)
    throw new DomainError('second_factor_enrolment_required');
  return mayCall(contract, tokens, caller);
}

/** @throws DomainError `administrator_required`, `reauth_required` */
function mayCall(contract: RouteContract, tokens: Tokens, caller: AccountPrincipal): AccountPrincipal {
  const isAdministrative = contract.auth === 'administrator';
  if (isAdministrative && caller.role !== 'admin') throw new DomainError('administrator_required');
  if (contract.needsRecentSignIn) tokens.assertRecent(caller);
  return isAdministrative ? { ...caller, actsAs: 'administrator' } : caller;
}

/** An access token is a JWT, which begins with the base64url of `{"`. No API key of ours does. */
const isAccessToken = (presented: RequestCredential): boolean =>
  presented.kind === 'bearer' && presented.text.startsWith('eyJ');

/**
 * Every request of a management key verifies it. Limits of the key or its account do not apply.
 * @throws DomainError `invalid_management_key`, `insufficient_scope`, `ambiguous_credentials`
 */
async function authenticateManagementKey(
  verifier: Verifier,
  presented: RequestCredential,
  clientIp: Conditions['clientIp'],
): Promise<KeyPrincipal> {
  if (presented.kind === 'ambiguous') throw new DomainError('ambiguous_credentials');
  const text = 'text' in presented ? presented.text : undefined;
  const key = await verifiedKey(verifier, text, { clientIp }, managing);
  if (!key?.valid || text === undefined) throw new DomainError('invalid_management_key');
  const { keyId, accountId, addresses } = key;
  return { kind: 'key', keyId, accountId, lookup: verifier.lookupOf(text), addresses };
}

/**
 * The limits of the credential and of its account do not apply.
 * @throws DomainError `invalid_service_key`, `ambiguous_credentials`
 */
async function authenticateCanary(
  authenticators: Authenticators,
  presented: RequestCredential,
): Promise<CanaryPrincipal> {
  if (presented.kind === 'ambiguous') throw new DomainError('ambiguous_credentials');
  const canary = 'text' in presented ? await canaryOf(authenticators, presented.text) : undefined;
  if (!canary) throw new DomainError('invalid_service_key');
  return canary;
}

/** @returns undefined unless the text is a valid credential of a revocation check */
async function canaryOf({ verifier, canaryKeys }: Authenticators, text: string): Promise<CanaryPrincipal | undefined> {
  const key = await verifier.verifyKey(text, {
    clientIp: () => canaryKeys.address,
    scopes: [canaryScope],
    isUnlimited: true,
    // A key with the scope and other IP ranges is no credential.
    mayVerify: ({ addresses }) => addresses === canaryKeys.range,
  });
  if (!key.valid || key.type !== 'api_key' || key.expiresAt === null) return undefined;
  const { keyId, accountId, expiresAt } = key;
  const { address, range: addresses } = canaryKeys;
  return { kind: 'canary', keyId, accountId, lookup: verifier.lookupOf(text), address, addresses, expiresAt };
}

/**
 * @param clientIp of the calling service, whose key may be limited to IP ranges
 * @param acceptsBasic whether HTTP Basic is accepted, for RFC 7662 clients: the id of the key as user, the key as password
 * @returns a credential that may verify canary keys only; undefined for a caller that may verify all credentials
 * @throws DomainError `invalid_service_key`, `insufficient_scope`, `ambiguous_credentials`
 */
export async function authenticateService(
  authenticators: Authenticators,
  presented: RequestCredential,
  clientIp: Conditions['clientIp'],
  acceptsBasic = false,
): Promise<CanaryPrincipal | undefined> {
  if (presented.kind === 'ambiguous') throw new DomainError('ambiguous_credentials');
  const basic = acceptsBasic && presented.kind === 'basic' ? parseBasic(presented.header) : undefined;
  const text = 'text' in presented ? presented.text : basic && formDecoded(basic.password.reveal());
  const { verifier } = authenticators;
  // With another id, the key is not used: no use of it is recorded.
  const mayVerify = basic && (({ id }: { id: number }) => formDecoded(basic.user) === String(id));
  const key = await verifiedKey(verifier, text, { clientIp, mayVerify }, verifying);
  const isElsewhere = key?.valid === false && (key.code === 'address_not_allowed' || key.code === 'address_required');
  const canary = isElsewhere && text !== undefined ? await canaryOf(authenticators, text) : undefined;
  const caller = canary ?? (key?.valid ? key : undefined);
  if (!caller) throw new DomainError('invalid_service_key');
  return canary;
}

interface RequiredScope {
  readonly scope: string;
  /** Of the error, if the key lacks it. */
  readonly detail: string;
}

/** @returns undefined without a key @throws DomainError `insufficient_scope` */
async function verifiedKey(
  verifier: Verifier,
  text: string | undefined,
  conditions: Pick<Conditions, 'clientIp' | 'mayVerify'>,
  { scope, detail }: RequiredScope,
): Promise<AcceptedKey | Refused | undefined> {
  if (text === undefined) return undefined;
  // A limit of the key or its account must not stop a service.
  const result = await verifier.verifyKey(text, { ...conditions, scopes: [scope], isUnlimited: true });
  if (!result.valid && result.code === 'insufficient_scope')
    throw new DomainError('insufficient_scope', { scopes: [scope], detail });
  return result.valid && result.type !== 'api_key' ? undefined : result;
}

const verifying: RequiredScope = {
  scope: verifyScope,
  detail: `The key is valid but lacks the scope \`${verifyScope}\`. An administrator creates a key with it: POST /auth/api-keys with {"nickname":"…","scopes":["${verifyScope}"]}, within ${limits.recentSignInSeconds / 60} minutes of a sign-in. An operator creates one with \`keyreeve key create --scope ${verifyScope}\`.`,
};

const settingRequiresManagementKey =
  'Only a management key, an administrator or an operator sets limits and entitlements.';

const managing: RequiredScope = {
  scope: manageScope,
  detail: `The key is valid but is no management key: it lacks the scope \`${manageScope}\`. An operator creates a management key with \`keyreeve key create --scope ${manageScope}\`.`,
};

/** Clients may form-encode both parts (RFC 6749 section 2.3.1). Decoding does not change an id or a key. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
