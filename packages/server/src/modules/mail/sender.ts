/** Who mail comes from: what KEYREEVE_MAIL_FROM says. */
import { domainToASCII } from 'node:url';

export interface Sender {
  /** Empty for none. */
  readonly name: string;
  readonly address: string;
  /** Of the address, in ASCII (UTS 46). */
  readonly domain: string;
}

/** @param text `Example <accounts@example.com>` or the address alone, as the configuration has checked it */
export function parseSender(text: string): Sender {
  const [, name = '', address = text] = /^(.*) <(.*)>$/.exec(text) ?? [];
  return { name: name.trim(), address, domain: domainToASCII(address.slice(address.lastIndexOf('@') + 1)) };
}

/** The operator's name: the one in KEYREEVE_MAIL_FROM, or the host of the public URL. */
export const operatorName = (mailFrom: string | undefined, publicUrl: string): string =>
  parseSender(mailFrom ?? '').name || new URL(publicUrl).hostname;
