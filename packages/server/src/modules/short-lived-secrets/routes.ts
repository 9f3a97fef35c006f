/** HTTP route of the exchange of assertions. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { route, type Call, type Route } from '../../http/route.ts';
import type { Exchange } from './exchange.ts';

/** RFC 6749 section 5.1 requires it besides `Cache-Control`. */
const headers = ['Pragma', 'no-cache'];

type TokenCall = Pick<Call<typeof contract.exchangeAssertion>, 'body' | 'credential' | 'clientIp'>;
/** Answers a request with one `grant_type`. */
export type Grant = (call: TokenCall) => Promise<contract.ExchangedSecret>;

/** @param others by `grant_type`: grants of other modules */
export const exchangeRoutes = (exchange: Exchange, others: ReadonlyMap<string, Grant>): readonly Route[] => {
  const assertion: Grant = async ({ body, credential, clientIp }) => {
    const { secret, expiresInSeconds } = await exchange.exchange(assertionOf(body, credential.kind), clientIp);
    return { access_token: secret.reveal(), token_type: 'Bearer', expires_in: expiresInSeconds };
  };
  return [
    route(contract.exchangeAssertion, async (call) => {
      const grant = others.get(call.body.grant_type) ?? assertion;
      return { status: 200, headers, body: await grant(call) };
    }),
  ];
};

/**
 * An empty parameter counts as absent (RFC 6749 section 3.2).
 * @throws DomainError `invalid_request`, `unsupported_grant_type`, `invalid_scope`
 */
function assertionOf(
  { grant_type: grantType, assertion = '', scope = '' }: { grant_type: string; assertion?: string; scope?: string },
  credential: string,
): string {
  const invalid = (detail: string): DomainError => new DomainError('invalid_request', { detail });
  // Only the assertion authenticates the client. A credential that is ignored would seem to.
  if (credential !== 'none')
    throw invalid('Send no Authorization or X-API-Key header. The assertion is the credential.');
  if (grantType === '') throw invalid('The parameter grant_type is missing.');
  if (grantType !== contract.jwtBearerGrant) throw new DomainError('unsupported_grant_type');
  if (scope !== '') throw new DomainError('invalid_scope');
  if (assertion === '') throw invalid('The parameter assertion is missing.');
  return assertion;
}
