/** HTTP route of the exchange of the credential of a client for a short-lived secret. */
import * as contract from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import type { RequestCredential } from '../../http/request-credential.ts';
import { route, type Route } from '../../http/route.ts';
import { isAssertion } from './assertion.ts';
import type { ClientCredentials } from './client-credentials.ts';
import { clientOf } from './client-request.ts';
import type { Exchange } from './exchange.ts';
import type { ExchangeResults } from './exchange-results.ts';
import type { IssuedSecret } from './issuing.ts';
import type { TokenExchange } from './token-exchange.ts';

/** RFC 6749 section 5.1 requires it besides `Cache-Control`. */
const headers = ['Pragma', 'no-cache'];

export interface Exchanges {
  readonly exchange: Exchange;
  readonly tokenExchange: TokenExchange;
  readonly clientCredentials: ClientCredentials;
  readonly exchangeResults: ExchangeResults;
}

/** A grant of another module. */
export type Grant = (body: contract.ExchangeBody, presented: Presented) => Promise<contract.ExchangedSecret>;

/** @param others by `grant_type` */
export const exchangeRoutes = (exchanges: Exchanges, others: Readonly<Record<string, Grant>>): readonly Route[] => [
  route(contract.exchangeAssertion, async ({ body, credential, clientIp }) => {
    const other = Object.hasOwn(others, body.grant_type) ? others[body.grant_type] : undefined;
    if (other) return { status: 200, headers, body: await other(body, { credential, clientIp }) };
    const { secret, expiresInSeconds } = await issue(exchanges, body, { credential, clientIp });
    const isExchange = body.grant_type === contract.tokenExchangeGrant;
    const answer: contract.ExchangedSecret = {
      access_token: secret.reveal(),
      ...(isExchange && { issued_token_type: contract.tokenTypes.accessToken }),
      token_type: 'Bearer',
      expires_in: expiresInSeconds,
    };
    return { status: 200, headers, body: answer };
  }),
];

export interface Presented {
  readonly credential: RequestCredential;
  readonly clientIp: string;
}

/** An empty parameter counts as absent (RFC 6749 section 3.2). @throws DomainError `invalid_request`, `unsupported_grant_type` */
function issue(
  exchanges: Exchanges,
  body: contract.ExchangeBody,
  { credential, clientIp }: Presented,
): Promise<IssuedSecret> {
  if (body.grant_type === contract.clientCredentialsGrant) {
    const { clientCredentials, exchangeResults } = exchanges;
    return exchangeResults.record('client_credentials', clientCredentials.issue(clientOf(body, credential), clientIp));
  }
  // Only the token authenticates the client. A credential that is ignored would seem to.
  if (credential.kind !== 'none')
    throw invalid('Send no Authorization or X-API-Key header. The assertion or identity token is the credential.');
  switch (body.grant_type) {
    case '':
      throw invalid('The parameter grant_type is missing.');
    case contract.jwtBearerGrant:
      return bearer(exchanges, body, clientIp);
    case contract.tokenExchangeGrant:
      return exchanged(exchanges, body, clientIp);
    default:
      throw new DomainError('unsupported_grant_type');
  }
}

/** RFC 7523 section 2.1. @throws DomainError `invalid_request`, `invalid_scope`, and those of the exchanges */
function bearer(
  { exchange, tokenExchange, exchangeResults }: Exchanges,
  { assertion = '', client_id: clientId = '', scope = '' }: contract.ExchangeBody,
  clientIp: string,
): Promise<IssuedSecret> {
  if (scope !== '') throw new DomainError('invalid_scope');
  if (assertion === '') throw invalid('The parameter assertion is missing.');
  // An assertion of a public key names its API key, so its client needs no client_id (RFC 7523 section 3.1).
  if (clientId === '' || isAssertion(assertion))
    return exchangeResults.record('public_key', exchange.exchange(assertion, clientIp));
  return exchangeResults.record('jwt_bearer', tokenExchange.exchange({ token: assertion, clientId, clientIp }));
}

/**
 * RFC 8693 section 2.1.
 * @throws DomainError `invalid_request`, also for a rejected token (section 2.2.2), `invalid_target`, `invalid_scope`,
 *   `too_many_exchanges`, `unavailable`
 */
async function exchanged(
  { tokenExchange, exchangeResults }: Exchanges,
  body: contract.ExchangeBody,
  clientIp: string,
): Promise<IssuedSecret> {
  const { client_id: clientId = '', subject_token: token = '', subject_token_type: type = '' } = body;
  const {
    requested_token_type: requested = '',
    actor_token: actor = '',
    resource = '',
    audience = '',
    scope = '',
  } = body;
  const { jwt, idToken, accessToken } = contract.tokenTypes;
  if (resource !== '' || audience !== '') throw new DomainError('invalid_target');
  if (scope !== '') throw new DomainError('invalid_scope');
  if (actor !== '') throw invalid('The parameter actor_token is not supported.');
  if (requested !== '' && requested !== accessToken) throw invalid(`The requested_token_type must be ${accessToken}.`);
  if (clientId === '') throw invalid('The parameter client_id is missing: the id of an API key.');
  if (token === '') throw invalid('The parameter subject_token is missing.');
  if (type !== jwt && type !== idToken) throw invalid(`The subject_token_type must be ${jwt} or ${idToken}.`);
  try {
    return await exchangeResults.record('token_exchange', tokenExchange.exchange({ token, clientId, clientIp }));
  } catch (error) {
    if (error instanceof DomainError && error.code === 'invalid_grant')
      throw invalid(contract.errors.invalid_grant.meaning);
    throw error;
  }
}

const invalid = (detail: string): DomainError => new DomainError('invalid_request', { detail });
