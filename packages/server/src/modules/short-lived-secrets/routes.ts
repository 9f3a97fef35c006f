/** HTTP route of the exchange of a credential for a short-lived secret. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { route, type Route } from '../../http/route.ts';
import type { ClientCredentials } from './client-credentials.ts';
import { clientOf } from './client-request.ts';
import type { Exchange, IssuedSecret } from './exchange.ts';

/** RFC 6749 section 5.1 requires it besides `Cache-Control`. */
const headers = ['Pragma', 'no-cache'];

export const exchangeRoutes = (exchange: Exchange, clients: ClientCredentials): readonly Route[] => [
  route(contract.exchangeAssertion, async ({ body, credential, clientIp }) => {
    const issue = (): Promise<IssuedSecret> => {
      if (body.grant_type !== contract.clientCredentialsGrant)
        return exchange.exchange(assertionOf(body, credential.kind), clientIp);
      if ((body.scope ?? '') !== '') throw new DomainError('invalid_scope');
      return clients.issue(clientOf(body, credential), clientIp);
    };
    const { secret, expiresInSeconds } = await issue();
    const answer = { access_token: secret.reveal(), token_type: 'Bearer', expires_in: expiresInSeconds } as const;
    return { status: 200, headers, body: answer satisfies contract.ExchangedSecret };
  }),
];

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
