/**
 * The checks of every request whose credential is the session cookie. A browser sends the cookie with requests that other
 * pages cause, so the server accepts only requests that a page of the console's own origin made:
 *
 * - `X-Keyreeve-Console`: another origin cannot send the header without a preflight (Fetch standard section 3.3), and no
 *   preflight to these paths succeeds. A form and a link cannot send it at all.
 * - `Sec-Fetch-Site: same-origin`, if the browser sends it: rejects sibling subdomains too, which SameSite does not.
 * - `Origin`, if the browser sends it: equals the console's origin.
 *
 * Reads, too, must pass the checks. docs/decisions/09-sign-in.md explains why there is no token against forgery.
 */
import { consoleHeader } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { credentialOf } from '../../http/request-credential.ts';
import type { SessionCookie } from './cookie.ts';

export interface ConsoleRequest {
  /** The text of the session cookie; undefined without one. */
  readonly cookie: string | undefined;
  /** Whether a person caused the request: only then does it extend the session. */
  readonly isPersonsAction: boolean;
}

/**
 * @param rawHeaders alternating names and values, as in `IncomingMessage.rawHeaders`
 * @param origin of the console
 * @throws DomainError `cross_origin_request`, `ambiguous_credentials`
 */
export function readConsoleRequest(
  rawHeaders: readonly string[],
  origin: string,
  sessionCookie: SessionCookie,
): ConsoleRequest {
  const valuesOf = (name: string): string[] =>
    rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  const [cause, ...otherCauses] = valuesOf(consoleHeader.toLowerCase());
  const isFromConsole =
    (cause === 'user' || cause === 'background') &&
    otherCauses.length === 0 &&
    valuesOf('sec-fetch-site').every((site) => site === 'same-origin') &&
    valuesOf('origin').every((other) => other === origin);
  if (!isFromConsole) throw new DomainError('cross_origin_request', { detail: fromOrigin(origin) });
  const cookies = sessionCookie.valuesIn(rawHeaders);
  if (cookies.length > 1 || credentialOf(rawHeaders).kind !== 'none')
    throw new DomainError('ambiguous_credentials', { detail: oneCookie });
  return { cookie: cookies[0], isPersonsAction: cause === 'user' };
}

/** The page may be open under another address of the same machine, such as an IP address, at which it loads. */
const fromOrigin = (origin: string): string =>
  `Open the console at ${origin}/console. Requests from other addresses are rejected, also from those of the same machine.`;

const oneCookie = 'Send one session cookie, and neither Authorization nor X-API-Key.';
