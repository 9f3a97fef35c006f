/** The sender of mail: KEYREEVE_MAIL_FROM. */
import { domainToASCII } from 'node:url';

export interface Sender {
  /** Empty without a name. */
  readonly name: string;
  readonly address: string;
  /** Domain of the email address in ASCII (UTS 46). */
  readonly domain: string;
}

/** @param text `Example <accounts@example.com>` or the email address alone; the configuration has validated it */
export function parseSender(text: string): Sender {
  const [, name = '', address = text] = /^(.*) <(.*)>$/.exec(text) ?? [];
  return { name: name.trim(), address, domain: domainToASCII(address.slice(address.lastIndexOf('@') + 1)) };
}

/** The operator's name: the one in KEYREEVE_MAIL_FROM, or the host of the public URL. */
export const operatorName = (mailFrom: string | undefined, publicUrl: string): string =>
  parseSender(mailFrom ?? '').name || new URL(publicUrl).hostname;
