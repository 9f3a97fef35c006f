/** Verification of access tokens. An access token has no scopes. */
import { hasScopes } from '../api-keys/scopes.ts';
import { restricted, type Conditions, type VerificationResult } from './conditions.ts';
import type { Results, VerifierOptions } from './results.ts';

export async function verifyAccessToken(
  text: string,
  stated: Conditions,
  { tokens, environments }: VerifierOptions,
  results: Results,
): Promise<VerificationResult> {
  const found = await tokens.find(text);
  const conditions = stated.restriction === undefined ? stated : await restricted(stated);
  const { scopes } = conditions;
  if (conditions.mayVerify) return results.refuse('not_found');
  // For a caller that is rejected, no signature is verified.
  const result = await tokens.verify(found);
  if (!result.valid) return results.refuse(result.code);
  if (result.mustEnrol) return results.refuse('enrolment_required');
  const environment = environments.first;
  if (!results.isAccepted(environment, conditions)) return results.refuse('wrong_environment');
  if (!hasScopes('', scopes)) return results.refuseForScopes('', scopes);
  results.counts.access_token++;
  const { accountId, expiresAt, issuedAt } = result.claims;
  const times = { expiresAt: expiresAt * 1000, issuedAt: issuedAt * 1000 };
  return { valid: true, type: 'access_token', accountId, ...times, environment };
}
