/** Parsers of settings. Each takes the text of a value and throws an Error whose message completes "NAME …". */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allRoutes, docsPath, keyPrefixPattern, limits, portalPath, reservedPrefixes } from '@keyreeve/contract';
import { parseEmail } from '../../modules/accounts/email.ts';
import { masterKeyBytes } from '../../foundation/crypto/master-key.ts';
import type { DatabaseLocation } from '../../foundation/database/database.ts';
import { parsePostgresUrl } from '../../foundation/database/postgres-url.ts';
import { toCidr } from '../../foundation/ip-address.ts';
import { isPrintable } from '../../foundation/printable.ts';
import { isProtected } from '../../modules/single-sign-on/bounded-fetch.ts';
import { accentOf, type Accent } from '../../modules/look/accent.ts';
import { parseMark, type Mark } from '../../modules/look/mark.ts';
import { parsePublicKeys, type PublicKeys } from '../../modules/leaks/github-keys.ts';
import type { IpRangeLimit } from '../../modules/rate-limits/sign-in-limits.ts';
import type { AllowedTarget } from '../../foundation/outgoing/address-guard.ts';
import { ownFile } from '../../foundation/own-files.ts';

export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new Error(`must be a whole number from ${min} to ${max}, not “${text}”`);
    return value;
  };
}

/** A decimal number from 0 to 1. */
export function ratio(text: string): number {
  if (!/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(text))
    throw new Error(`must be a number from 0 to 1, such as 0.01, not “${text}”`);
  return Number(text);
}

export function oneOf<const T extends string>(allowed: readonly T[]) {
  return (text: string): T => {
    const value = allowed.find((candidate) => candidate === text);
    if (value === undefined) throw new Error(`must be one of ${allowed.join(', ')}, not “${text}”`);
    return value;
  };
}

/** True for `trueValue`, false for the other allowed value. */
export const flag =
  <const T extends string>(trueValue: NoInfer<T>, allowed: readonly [T, T]) =>
  (text: string): boolean =>
    oneOf(allowed)(text) === trueValue;

/** Undefined for an empty text. */
export const optional =
  <T>(parse: (text: string) => T) =>
  (text: string): T | undefined =>
    text === '' ? undefined : parse(text);

export function list<T>(parse: (text: string) => T) {
  return (text: string): readonly T[] =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(parse);
}

export function hostName(text: string): string {
  if (!/^[A-Za-z0-9.:_-]+$/.test(text)) throw new Error(`must be a host name or an IP address, not “${text}”`);
  return text;
}

export function httpOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, '');
  if (!isOrigin) throw new Error(`must be like https://auth.example.com, without a path, not “${text}”`);
  return url.origin;
}

/**
 * An origin, or a URL with a path below which a proxy makes the service available. The path has characters that no program
 * encodes, and begins with no segment that the service has itself: its addresses would have two meanings.
 */
export function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const path = url?.pathname.replace(/\/$/, '') ?? '';
  const isUrl = url && /^https?:$/.test(url.protocol) && url.origin + path === text.replace(/\/$/, '');
  if (!isUrl || !/^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/.test(path)) {
    throw new Error(`must be like https://auth.example.com or https://example.com/id, not “${text}”`);
  }
  const [, first = ''] = path.split('/', 2);
  if (ownSegments.has(first))
    throw new Error(`must not have a path that begins with /${first}, which is a path of Keyreeve`);
  return text.replace(/\/$/, '');
}

/** The first segments of the paths of the service. */
const ownSegments: ReadonlySet<string> = new Set(
  [...allRoutes.map(({ path }) => path), docsPath, portalPath, '/console', '/metrics']
    .map((path) => path.split('/', 2)[1] ?? '')
    .filter(Boolean),
);

/**
 * The origin of web pages, or of an app in a web view or a browser extension: `capacitor://localhost`, `tauri://localhost`,
 * `chrome-extension://…`. Origins are compared as text, and for other schemes than http and https only browsers know how they
 * write them, so those are not normalised. `null` is the origin of any sandboxed page, and `file://` of any file.
 */
export function origin(text: string): string {
  const isOfPages = /^https?:/i.test(text) && URL.canParse(text) && new URL(text).origin === text;
  if (!isOfPages && !isOfApp(text)) throw new Error(`must be like https://app.example.com, not “${text}”`);
  return text;
}

/** Schemes that have no origin of their own (URL standard, section 4.7), or that no page has. */
const schemesWithoutApps = /^(?:https?|file|data|blob|about|javascript|filesystem|wss?|ftp):/i;
const isOfApp = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\/[A-Za-z0-9._~-]+(?::[0-9]{1,5})?$/.test(text) && !schemesWithoutApps.test(text);

/** Compared character for character with what the provider states (OpenID Connect Discovery 1.0, section 4.3). */
export function issuer(text: string): string {
  if (!isProtected(text) || /[?#@]/.test(text))
    throw new Error(`must be like https://id.example.com, or use http on this machine, not “${text}”`);
  return text;
}

/** The message omits the text, which may be secret. */
export function shortText(text: string): string {
  if (text.length > 255 || !isPrintable(text)) throw new Error('must be at most 255 printable characters');
  return text;
}

export function cidr(text: string): string {
  const network = toCidr(text);
  if (network === undefined) throw new Error(`must be like 10.0.0.0/8 or 192.0.2.7, not “${text}”`);
  return network;
}

/** @param parse throws an Error that says what is wrong with the content, such as "is empty" */
const file =
  <T>(parse: (bytes: Buffer) => T) =>
  (path: string): T => {
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch {
      throw new Error(`is the file ${path}, which can't be read`);
    }
    try {
      return parse(bytes);
    } catch (error) {
      throw new Error(`is the file ${path}, which ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  };

/** Certificates in PEM, such as of private authorities. */
export const certificatesFile: (path: string) => readonly string[] = file((bytes) => {
  const certificates = bytes.toString().match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) throw new Error('has no certificate in PEM');
  for (const certificate of certificates) assertCertificate(certificate);
  return certificates;
});

function assertCertificate(text: string): void {
  try {
    new X509Certificate(text);
  } catch {
    throw new Error('has a certificate that cannot be read');
  }
}

/** The public keys of GitHub. */
export const githubKeysFile: (path: string) => PublicKeys = file(parsePublicKeys);

export const markFile: (path: string) => Mark = file(parseMark);

export function accent(text: string): Accent {
  if (!/^#[0-9a-f]{6}$/i.test(text)) throw new Error(`must be a colour like #0a7d5a, not “${text}”`);
  return accentOf(text);
}

/** An IP network, or one port of a host. */
export function allowedTarget(text: string): AllowedTarget {
  const network = toCidr(text);
  if (network !== undefined) return { kind: 'network', cidr: network };
  const url =
    /^[^\s/?#@\\]+:\d{1,5}$/.test(text) && URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined;
  if (!url || url.port === '0') throw new Error(`must be like hooks.internal:8080 or 10.0.0.0/8, not “${text}”`);
  return { kind: 'host', host: url.hostname.replaceAll(/[[\]]/g, ''), port: Number(url.port || '80') };
}

export function ipRangeLimit(text: string): IpRangeLimit {
  const [network = '', count = ''] = text.split('=');
  return { cidr: cidr(network), failuresMax: integer(1, 10_000_000)(count) };
}

export function keyPrefix(text: string): string {
  if (!keyPrefixPattern.test(text)) throw new Error(`must match ${keyPrefixPattern.source}, unlike “${text}”`);
  if (reservedPrefixes.includes(text))
    throw new Error(`must not use the prefix ${text}: other credentials begin with it`);
  return text;
}

/** `name:prefix`, separated by commas. */
export function environments(text: string): readonly { readonly name: string; readonly prefix: string }[] {
  if (text === '') return [];
  const found = text.split(',').map((part) => {
    const [, name = '', prefix = ''] = /^([a-z][a-z0-9-]{0,15}):(.*)$/.exec(part.trim()) ?? [];
    if (name === '') throw new Error(`must be names and prefixes such as live:acme_live, unlike “${part}”`);
    return { name, prefix: keyPrefix(prefix) };
  });
  const isRepeated = (values: readonly string[]): boolean => new Set(values).size < values.length;
  if (isRepeated(found.map(({ name }) => name)) || isRepeated(found.map(({ prefix }) => prefix)))
    throw new Error('must not repeat a name or a prefix');
  if (found.length > limits.environmentsMax)
    throw new Error(`must have at most ${limits.environmentsMax} environments`);
  return found;
}

/** A mailbox of RFC 5322 section 3.4: an email address, or a name and an email address in angle brackets. */
export function mailFrom(text: string): string {
  const [, email = text] = /^[^<>"\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,100} <([^<>]+)>$/u.exec(text) ?? [];
  if (!parseEmail(email)) throw new Error(`must be like Example <accounts@example.com>, not “${text}”`);
  return text;
}

/** A query is rejected because Keyreeve adds the kind and the code of the link as one. */
export function linksUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPage =
    url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && !/[?#]/.test(text);
  if (!isPage) throw new Error(`must be like https://example.com/account, not “${text}”`);
  return url.href.replace(/\/$/, '');
}

/** In commands that the console shows, the path is between single quotes. */
export function exampleRequest(text: string): { readonly method: string; readonly path: string } {
  const [, method = '', path = ''] = /^([A-Z]{3,7}) (\/[\w.~!$&()*+,;=:@%/?-]{0,500})$/.exec(text) ?? [];
  if (method === '') throw new Error(`must be like GET /v1/orders, not “${text}”`);
  return { method, path };
}

/** @returns the absolute path. A relative path starts where that of a database does. */
export function folder(text: string): string {
  if (text.includes('\0')) throw new Error("can't be a folder: it contains a zero byte");
  return resolve(baseFolder(), text);
}

export function databaseUrl(text: string): DatabaseLocation {
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: 'sqlite', path: resolve(baseFolder(), path) };
  if (/^postgres(?:ql)?:\/\//.test(text)) return parsePostgresUrl(text);
  throw new Error('must be like sqlite:data/keyreeve.db or postgres://user:password@host:5432/database');
}

/** The checkout that contains this file. For a program installed as a package, the working folder. */
function baseFolder(): string {
  const here = fileURLToPath(ownFile('.'));
  return /[\\/]node_modules[\\/]/.test(here) ? process.cwd() : fileURLToPath(ownFile('../../../'));
}

export function masterKey(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  // The message omits the text, which is secret.
  if (!/^[A-Za-z0-9_-]{43}=?$/.test(text) || bytes.length !== masterKeyBytes) {
    throw new Error(`must be ${masterKeyBytes} bytes in base64url: 43 characters`);
  }
  return bytes;
}
