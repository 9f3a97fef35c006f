/** Validates and normalises the URL of an endpoint. */
import { limits } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { RefusedTarget, type AddressGuard } from '../../foundation/outgoing/address-guard.ts';

/**
 * @returns the URL in the form in which it is stored and called: names in Punycode, IP addresses in canonical form
 * @throws DomainError `webhook_url_refused`
 */
export function acceptUrl(text: string, guard: AddressGuard): string {
  const refuse = (why: string): DomainError =>
    new DomainError('webhook_url_refused', { detail: `The URL of the endpoint is not allowed: ${why}.` });
  // URL parsers remove white space and control characters silently.
  const isPlain = text.length <= limits.webhookUrlCharsMax && !/[\s\p{Cc}]/u.test(text);
  const url = isPlain && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw refuse(`it must be like https://example.com/hooks, of at most ${limits.webhookUrlCharsMax} characters`);
  if (url.username !== '' || url.password !== '') throw refuse('it must not hold a user or a password');
  if (text.includes('#')) throw refuse('it must not have a fragment');
  if (url.hostname.endsWith('.')) throw refuse('its name must not end with a dot');
  if (url.href.length > limits.webhookUrlCharsMax) throw refuse('it is too long');
  try {
    guard.assertPossible(url);
  } catch (error) {
    if (error instanceof RefusedTarget) throw refuse(error.message);
    throw error;
  }
  return url.href;
}
