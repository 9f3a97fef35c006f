/**
 * `/auth/forward`: the credential in the request is the question, the headers of the answer are what is known of the
 * caller. Proxies send every request through here, so this is the shortest way through the house: no body is read,
 * nothing is parsed twice, and a yes is not logged.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { forward, identityHeaders, limits } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { queryOf } from '../../http/answer.ts';
import { presentedCredential, type PresentedCredential } from '../../http/presented-credential.ts';
import type { HeaderPairs } from '../../http/headers.ts';
import { hasScope, type AcceptedKey, type AcceptedToken, type Verdict, type Verifier } from './verify.ts';

const { account, credential, keyId, nickname, scopes } = identityHeaders;

/** For the Allow of a 405; any other method is accepted as well. */
const commonMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Whether the request target is the route's: itself, with a query, or anything below it (Envoy appends its own path). */
export function isForwardTarget(target: string): boolean {
  if (!target.startsWith(forward.path)) return false;
  const next = target.charCodeAt(forward.path.length);
  return Number.isNaN(next) || next === 0x3f || next === 0x2f;
}

/** Answers a yes; everything else goes to `refuse`. */
export function answerForward(
  verifier: Verifier,
  security: HeaderPairs,
  request: IncomingMessage,
  response: ServerResponse,
  refuse: (error: unknown) => void,
): void {
  try {
    const presented = readCredential(request);
    const answer = (verdict: Verdict): void => {
      if (!verdict.valid) return refuse(new DomainError('invalid_credential'));
      assertScopes(request, verdict);
      response.writeHead(200, identityOf(verdict, security)).end();
    };
    if (presented.kind === 'bearer') verifier.judge(presented.text, answer, refuse);
    else verifier.judgeKey(presented.text, answer, refuse);
  } catch (error) {
    refuse(error);
  }
}

function readCredential({ method, rawHeaders }: IncomingMessage): Extract<PresentedCredential, { text: string }> {
  if (rawHeaders.length > limits.headerFieldsMax * 2) throw new DomainError('headers_too_large');
  if (method === 'TRACE' || method === 'CONNECT') {
    throw new DomainError('method_not_allowed', { allowed: commonMethods });
  }
  const presented = presentedCredential(rawHeaders);
  if (presented.kind === 'none') throw new DomainError('missing_credential');
  if (presented.kind === 'ambiguous') throw new DomainError('ambiguous_credentials');
  if (!('text' in presented)) throw new DomainError('invalid_credential');
  return presented;
}

/** All five, always: a proxy that copies them overwrites whatever the client sent under these names. */
function identityOf(verdict: AcceptedKey | AcceptedToken, security: HeaderPairs): string[] {
  const isKey = verdict.type === 'api_key';
  return [
    ...security,
    'Content-Length',
    '0',
    account,
    verdict.accountId,
    credential,
    verdict.type,
    keyId,
    isKey ? String(verdict.keyId) : '',
    nickname,
    isKey ? encodeURIComponent(verdict.nickname) : '',
    scopes,
    isKey ? verdict.scopes : '',
  ];
}

/** An access token has no scopes, so it has none of those asked for. */
function assertScopes(request: IncomingMessage, verdict: AcceptedKey | AcceptedToken): void {
  if (!request.url?.includes('?')) return;
  const wanted = queryOf(request)
    .getAll('scope')
    .flatMap((value) => value.split(' '))
    .filter((scope) => scope !== '');
  const held = verdict.type === 'api_key' ? verdict.scopes : '';
  const missing = wanted.filter((scope) => !hasScope(held, scope));
  if (missing.length > 0) throw new DomainError('insufficient_scope', { scopes: wanted, missing });
}
