/**
 * Authenticates callers: an account by its access token or the session cookie of the console, a backend by a management key,
 * which is an API key with the scope `keyreeve:keys`, the key page by the secret of its portal session, or a revocation check from
 * outside by its credential, which is an API key with the scope `keyreeve:canary`. Callers of verifications: `service-caller.ts`.
 */
import type { RouteContract } from '@keyreeve/contract';
import { assertMayCall } from '../modules/api-keys/portal-capabilities.ts';
import { manageScope } from '../modules/api-keys/scopes.ts';
import type { AccountPrincipal, CanaryPrincipal, KeyPrincipal } from '../foundation/principal.ts';
import { DomainError } from '../foundation/errors.ts';
import type { Tokens } from '../modules/tokens/tokens.ts';
import type { Conditions } from '../modules/verification/conditions.ts';
import type { Verifier } from '../modules/verification/verify.ts';
import type { RequestCredential } from '../http/request-credential.ts';
import type { AnyCaller, Route } from '../http/route.ts';
import type { PortalSessions } from '../modules/portal/sessions.ts';
import type { ConsoleRequest } from '../modules/console/request-checks.ts';
import type { Console } from '../modules/console/routes.ts';
import { canaryOf, type ServiceAuthenticators } from './service-caller.ts';

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

export interface Authenticators extends ServiceAuthenticators {
  readonly tokens: Tokens;
  /** Undefined in a process that only verifies. */
  readonly portal?: { readonly sessions: Pick<PortalSessions, 'authenticate'> };
}

/**
 * @param clientIp of the caller, whose key may be limited to IP ranges
 * @returns the account, the management key, the portal session or the canary credential that calls; undefined if the route does not
 *   require one
 * @throws DomainError as {@link authenticateAccount}, {@link authenticateManagementKey} and
 *   {@link authenticateCanary}, {@link PortalSessions.authenticate}, `missing_credential`,
 *   `management_key_required`, `portal_capability_required`, `administrator_required`, `reauth_required`
 */
export async function callerOf(
  contract: RouteContract,
  authenticators: Authenticators,
  presented: RequestCredential,
  clientIp: Conditions['clientIp'],
): Promise<AnyCaller | undefined> {
  const { auth } = contract;
  const { tokens, verifier } = authenticators;
  if (auth === 'portal_session') {
    const principal = await authenticators.portal?.sessions.authenticate(presented);
    if (!principal) throw new DomainError('portal_session_ended');
    assertMayCall(contract, principal);
    return principal;
  }
  if (auth === 'canary_credential') return authenticateCanary(authenticators, presented);
  if (auth === 'manager' && presented.kind === 'none') throw new DomainError('missing_credential');
  // A 401 would make a web client sign the person out.
  if (auth === 'management_key' && isAccessToken(presented))
    throw new DomainError('management_key_required', {
      detail: isOfPortal(contract) ? portalRequiresManagementKey : settingRequiresManagementKey,
    });
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
  if (!('text' in presented)) throw new DomainError('invalid_management_key');
  const { text } = presented;
  // A limit of the key or its account must not stop a backend.
  const key = await verifier.verifyKey(text, { clientIp, scopes: [manageScope], isUnlimited: true });
  if (!key.valid && key.code === 'insufficient_scope')
    throw new DomainError('insufficient_scope', {
      scopes: [manageScope],
      detail: `The key is valid but is no management key: it lacks the scope \`${manageScope}\`. An operator creates a management key with \`keyreeve key create --scope ${manageScope}\`.`,
    });
  if (!key.valid || key.type !== 'api_key') throw new DomainError('invalid_management_key');
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

const isOfPortal = ({ path }: RouteContract): boolean => path.startsWith('/auth/portal-sessions');
const portalRequiresManagementKey = 'Only a management key creates and ends portal sessions.';
const settingRequiresManagementKey =
  'Only a management key, an administrator or an operator sets limits and entitlements.';
