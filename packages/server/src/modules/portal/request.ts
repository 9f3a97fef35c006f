/** What a backend may request of a portal session: where the key page is shown, for which person, and with which scopes. */
import { limits, type NewPortalSessionBody } from '@keyreeve/contract';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import type { PortalPerson } from '../../foundation/principal.ts';
import type { PortalData } from './store.ts';

/** Origins of the service, whose pages must not show the key page in a frame: its own pages would be of the same origin. */
export type OwnOrigins = readonly string[];

/**
 * Checks everything that needs no read.
 * @throws DomainError `invalid_request`, `nickname_invalid`
 */
export function portalDataOf(body: NewPortalSessionBody, ownOrigins: OwnOrigins): PortalData {
  const { capabilities, scopes, person, origin, returnUrl } = body;
  if (origin === undefined && returnUrl === undefined)
    throw invalidAt('/origin', 'Expected `origin`, `returnUrl` or both.', { code: 'required' });
  if (origin !== undefined) assertOrigin(origin, ownOrigins);
  return {
    capabilities,
    ...(scopes && { scopes }),
    ...(person && { person: personOf(person) }),
    ...(origin !== undefined && { origin }),
    ...(returnUrl !== undefined && { returnUrl: returnUrlOf(returnUrl, origin, ownOrigins) }),
  };
}

/**
 * The text becomes part of a Content-Security-Policy. A URL can have other characters in its host, such as `;` and `*`, which have a
 * meaning there. It cannot name an IPv6 address (CSP Level 3, section 2.3.1).
 */
const originPattern = /^https?:\/\/[a-z0-9_.-]+(?::[0-9]{1,5})?$/;
const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];
const notOwn =
  'Expected another origin than those of this service: the scripts of a page of the same origin could read the key page.';
const secure = '`https`, or `http` of `localhost`, `127.0.0.1` or `[::1]`';

/** @throws DomainError `invalid_request` */
function assertOrigin(text: string, ownOrigins: OwnOrigins): void {
  const url = URL.parse(text);
  if (!url || url.origin !== text || !originPattern.test(text))
    throw invalidAt(
      '/origin',
      'Expected an origin as browsers write it: scheme, host in lower case and a port that is not the default, such as https://app.example.com. The host cannot be an IPv6 address, which no Content-Security-Policy can name.',
      { code: 'wrong_form' },
    );
  if (!isSecure(url)) throw invalidAt('/origin', `Expected ${secure}.`, { code: 'wrong_form' });
  if (ownOrigins.includes(text)) throw invalidAt('/origin', notOwn);
}

/** @returns the URL as browsers write it @throws DomainError `invalid_request` */
function returnUrlOf(text: string, origin: string | undefined, ownOrigins: OwnOrigins): string {
  const url = URL.parse(text);
  if (!url || !isSecure(url))
    throw invalidAt('/returnUrl', `Expected an absolute URL with ${secure}.`, { code: 'wrong_form' });
  if (url.username !== '' || url.password !== '')
    throw invalidAt('/returnUrl', 'Expected a URL without a user name and a password.', { code: 'wrong_form' });
  if (origin !== undefined && url.origin !== origin) throw invalidAt('/returnUrl', 'Expected a URL of `origin`.');
  if (ownOrigins.includes(url.origin)) throw invalidAt('/returnUrl', notOwn);
  if (url.href.length > limits.portalReturnUrlCharsMax)
    throw invalidAt(
      '/returnUrl',
      `Expected at most ${limits.portalReturnUrlCharsMax} characters, as browsers write it.`,
      {
        code: 'too_long',
        limit: limits.portalReturnUrlCharsMax,
      },
    );
  return url.href;
}

/** Over plain HTTP, the network could show another page in place of the host’s. */
const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && loopbackHosts.includes(hostname));

/** @throws DomainError `nickname_invalid`, `invalid_request` */
function personOf({ id, name }: NonNullable<NewPortalSessionBody['person']>): PortalPerson {
  if (name === undefined) return { id, name: null };
  const limit = limits.portalPersonNameBytesMax;
  const valid = validateNickname(name, '/person/name');
  if (Buffer.byteLength(valid) > limit)
    throw invalidAt('/person/name', `Expected at most ${limit} bytes in UTF-8.`, { code: 'too_long', limit });
  return { id, name: valid };
}

/** @throws DomainError `scope_not_entitled` */
export function assertNotReserved(scopes: readonly string[], reservedPrefix: string): void {
  const reserved = scopes.findIndex((scope) => scope.startsWith(reservedPrefix));
  if (reserved < 0) return;
  const detail = `Keys of a portal session cannot have scopes that begin with ${reservedPrefix}.`;
  throw new DomainError('scope_not_entitled', {
    detail,
    errors: [{ pointer: `/scopes/${reserved}`, detail, code: 'not_grantable' }],
  });
}
