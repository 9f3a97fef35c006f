/** The client id and the client secret of a request for a token (RFC 6749 section 2.3.1). */
import type { ExchangeBody } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { parseClient } from '../../http/basic-authentication.ts';
import type { RequestCredential } from '../../http/request-credential.ts';

export interface Client {
  readonly id: string;
  readonly secret: string;
}

/**
 * Reads both from Basic or from the body. With Basic, the body may repeat the id (RFC 6749 section 3.2.1).
 * @returns undefined if one of them is missing or malformed
 * @throws DomainError `invalid_request` for two credentials, or for a credential in another form; `invalid_scope`,
 *   `invalid_target`
 */
export function clientOf(body: ExchangeBody, credential: RequestCredential): Client | undefined {
  const { client_id: id = '', client_secret: secret = '', scope = '', resource = '', audience = '' } = body;
  if (resource !== '' || audience !== '') throw new DomainError('invalid_target');
  if (scope !== '') throw new DomainError('invalid_scope');
  if (credential.kind === 'malformed') return undefined;
  if (credential.kind === 'none') return id === '' || secret === '' ? undefined : { id, secret };
  if (credential.kind !== 'basic')
    throw invalid('Send the client id and the client secret as Basic or in the body, and no other credential.');
  if (secret !== '') throw invalid('Send the client secret as Basic or in the body, not in both.');
  const client = parseClient(credential.header);
  if (client && id !== '' && id !== client.id)
    throw invalid('The client_id of the body is not that of the Authorization header.');
  return client;
}

const invalid = (detail: string): DomainError => new DomainError('invalid_request', { detail });
