/** Authenticates callers: an account by its access token, or a service by an API key with the scope `keyreeve:verify`. */
import { limits, type RouteContract } from '@keyreeve/contract';
import { verifyScope } from '../modules/api-keys/scopes.ts';
import type { AccountPrincipal } from '../foundation/principal.ts';
import { DomainError } from '../foundation/errors.ts';
import type { Tokens } from '../modules/tokens/tokens.ts';
import type { Conditions, Verifier } from '../modules/verification/verify.ts';
import { parseBasic } from '../http/basic-authentication.ts';
import type { RequestCredential } from '../http/request-credential.ts';

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

/**
 * @returns the account that calls; undefined if the route does not require one
 * @throws DomainError as {@link authenticateAccount}, `administrator_required`, `reauth_required`
 */
export async function callerOf(
  contract: RouteContract,
  tokens: Tokens,
  presented: RequestCredential,
): Promise<AccountPrincipal | undefined> {
  const isAdministrative = contract.auth === 'administrator';
  if (!isAdministrative && contract.auth !== 'access_token') return undefined;
  const caller = await authenticateAccount(tokens, presented, contract.isOpenBeforeEnrolment);
  if (isAdministrative && caller.role !== 'admin') throw new DomainError('administrator_required');
  if (contract.needsRecentSignIn) tokens.assertRecent(caller);
  return isAdministrative ? { ...caller, actsAs: 'administrator' } : caller;
}

/**
 * @param clientIp of the calling service, whose key may be limited to IP ranges
 * @param acceptsBasic whether HTTP Basic is accepted, for RFC 7662 clients: the id of the key as user, the key as password
 * @throws DomainError `invalid_service_key`, `insufficient_scope`, `ambiguous_credentials`
 */
export async function authenticateService(
  verifier: Verifier,
  presented: RequestCredential,
  clientIp: Conditions['clientIp'],
  acceptsBasic = false,
): Promise<void> {
  if (presented.kind === 'ambiguous') throw new DomainError('ambiguous_credentials');
  const basic = acceptsBasic && presented.kind === 'basic' ? parseBasic(presented.header) : undefined;
  const text = 'text' in presented ? presented.text : basic && formDecoded(basic.password.reveal());
  // A limit of the key or its account must not stop the verifications of a service.
  const conditions = { clientIp, scopes: [verifyScope], isUnlimited: true };
  const result = text === undefined ? undefined : await verifier.verifyKey(text, conditions);
  if (result?.valid === false && result.code === 'insufficient_scope')
    throw new DomainError('insufficient_scope', { scopes: [verifyScope], detail: verifyScopeMissing });
  if (!result?.valid || result.type !== 'api_key') throw new DomainError('invalid_service_key');
  if (basic && formDecoded(basic.user) !== String(result.keyId)) throw new DomainError('invalid_service_key');
}

const verifyScopeMissing = `The key is valid but lacks the scope \`${verifyScope}\`. An administrator creates a key with it: POST /auth/api-keys with {"nickname":"…","scopes":["${verifyScope}"]}, within ${limits.recentSignInSeconds / 60} minutes of a sign-in. An operator creates one with \`keyreeve key create --scope ${verifyScope}\`.`;

/** Clients may form-encode both parts (RFC 6749 section 2.3.1). Decoding does not change an id or a key. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
