/** Parsers of the settings of the mail server, as in config-values.ts. Messages omit the text, which may contain a secret. */
import { privateKeyIn } from '../../modules/mail/access-tokens.ts';
import { isProtected } from '../../modules/single-sign-on/bounded-fetch.ts';
import { shortText } from './config-values.ts';

const form = 'must be like smtps://user:password@mail.example.com:465 or smtp://mail.example.com:587';

/** Characters that end the host, the user name or the password of a URL unless they are encoded. */
const reserved: Readonly<Record<string, string>> = {
  '#': '%23',
  '/': '%2F',
  '?': '%3F',
  '@': '%40',
  ':': '%3A',
  '[': '%5B',
  ']': '%5D',
  '\\': '%5C',
};

export function smtpUrl(text: string): string {
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? [];
  if (!/^smtps?$/i.test(scheme)) throw new Error(`${form}: it must begin with smtp:// or smtps://`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isServer = url && url.hostname !== '' && /^\/?$/.test(url.pathname);
  // A query is rejected: the mail library would read options from it.
  if (!isServer || /[?#]/.test(text)) throw new Error(`${form}${adviceOn(text.slice(scheme.length + '://'.length))}`);
  if (!isDecodable(url.username) || !isDecodable(url.password))
    throw new Error(`${form}. In its user name or password, encode the character % as %25`);
  return text;
}

/** The user name and the password end at the last `@`. */
function adviceOn(rest: string): string {
  const end = rest.lastIndexOf('@');
  if (end === -1) return '';
  const [user = '', ...password] = rest.slice(0, end).split(':');
  const found = [...new Set([...user, ...password.join('')])].filter((char) => char in reserved);
  if (found.length === 0) return '';
  const encoded = found.map((char) => `${char} as ${reserved[char]}`).join(', ');
  return `. In its user name or password, encode special characters: ${encoded}`;
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

/** https, or http within this machine. */
export function protectedUrl(text: string): string {
  if (!isProtected(text) || /[#@]/.test(text))
    throw new Error(`must be like https://login.example.com/token, or use http on this machine, not “${text}”`);
  return text;
}

/** A client secret, or a private key in PEM. */
export function clientSecretOrKey(text: string): string {
  if (!text.startsWith('-----BEGIN ')) return shortText(text);
  try {
    if (privateKeyIn(text)?.asymmetricKeyType === 'rsa') return text;
  } catch {
    // As for a key of another type.
  }
  throw new Error('must be the private key of an RSA key in PEM, or a client secret');
}
