/**
 * Email addresses: the stored form and the canonical form. All input goes through the same function, so that no alias
 * bypasses a rule.
 */
import { domainToASCII } from 'node:url';
import { limits } from '@keyreeve/contract';

export interface Email {
  /** As typed, in NFC: the recipient of mail. */
  readonly email: string;
  /** Lower case, the domain in ASCII (UTS 46): decides uniqueness. */
  readonly canonicalEmail: string;
}

/** Dot-atoms of RFC 5322 section 3.2.3 in ASCII; no quoted local parts, no comments. */
const localPartPattern = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** `domainToASCII` is a URL parser: it would decode `%61` and stop at `/`. No other characters may reach it. */
const typedDomainPattern = /^[\p{L}\p{M}\p{N}.-]+$/u;
/** At least two labels, the last not a number: no IP literals. */
const domainPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const localPartCharsMax = 64;

/** @returns undefined for a text that Keyreeve does not accept as an email address */
export function parseEmail(text: string): Email | undefined {
  const email = text.normalize('NFC');
  if (email.length > limits.emailCharsMax || email.normalize('NFKC') !== email) return undefined;
  const at = email.lastIndexOf('@');
  const local = email.slice(0, at);
  if (at < 1 || local.length > localPartCharsMax || !localPartPattern.test(local)) return undefined;
  const typedDomain = email.slice(at + 1);
  if (!typedDomainPattern.test(typedDomain)) return undefined;
  const domain = domainToASCII(typedDomain);
  const canonicalEmail = `${local.toLowerCase()}@${domain}`;
  return domainPattern.test(domain) && canonicalEmail.length <= limits.emailCharsMax
    ? { email, canonicalEmail }
    : undefined;
}
