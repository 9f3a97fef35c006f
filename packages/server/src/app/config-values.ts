/** Values of environment variables: each parser takes the text of one and throws an Error that completes "NAME …". */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyPrefixPattern, reservedPrefixes } from '@keyreeve/contract';
import { parseEmail } from '../modules/accounts/email.ts';
import { masterKeyBytes } from '../foundation/crypto/master-key.ts';
import type { DatabaseLocation } from '../foundation/database/database.ts';
import { sslModes, type SslMode } from '../foundation/database/postgres-url.ts';
import { isLoopback, toCidr } from '../foundation/ip-address.ts';
import type { IpRangeLimit } from '../modules/rate-limits/sign-in-limits.ts';
import type { WebhookTarget } from '../modules/webhooks/address-guard.ts';

export function integer(min: number, max: number) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new Error(`must be a whole number from ${min} to ${max}, not “${text}”`);
    return value;
  };
}

export function oneOf<const T extends string>(allowed: readonly T[]) {
  return (text: string): T => {
    const value = allowed.find((candidate) => candidate === text);
    if (value === undefined) throw new Error(`must be one of ${allowed.join(', ')}, not “${text}”`);
    return value;
  };
}

export function list<T>(parse: (text: string) => T) {
  return (text: string): readonly T[] =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(parse);
}

export function hostName(text: string): string {
  if (!/^[A-Za-z0-9.:_-]+$/.test(text)) throw new Error(`must be an address or a host name, not “${text}”`);
  return text;
}

export function publicUrl(text: string): string {
  if (text === '') return '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, '');
  if (!isOrigin) throw new Error(`must be like https://auth.example.com, without a path, not “${text}”`);
  return url.origin;
}

export function origin(text: string): string {
  if (!URL.canParse(text) || new URL(text).origin !== text)
    throw new Error(`must be like https://app.example.com, not “${text}”`);
  return text;
}

export function cidr(text: string): string {
  const network = toCidr(text);
  if (network === undefined) throw new Error(`must be like 10.0.0.0/8 or 192.0.2.7, not “${text}”`);
  return network;
}

/** A network, or a host with the one port that may be used of it. */
export function webhookTarget(text: string): WebhookTarget {
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
  if (reservedPrefixes.includes(text)) throw new Error(`can't be ${text}: other credentials begin so`);
  return text;
}

export function smtpUrl(text: string): string {
  if (text === '') return '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isServer = url && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname);
  // The text may hold a password, so it isn't repeated. What a library would read from a query isn't ours to promise.
  if (!isServer || /[?#]/.test(text) || !isDecodable(url.username) || !isDecodable(url.password))
    throw new Error('must be like smtps://user:password@mail.example.com:465 or smtp://mail.example.com:587');
  return text;
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

/** A mailbox of RFC 5322 section 3.4: an address, or a name and an address in angle brackets. */
export function mailFrom(text: string): string {
  if (text === '') return '';
  const [, address = text] = /^[^<>"\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,100} <([^<>]+)>$/u.exec(text) ?? [];
  if (!parseEmail(address)) throw new Error(`must be like Example <accounts@example.com>, not “${text}”`);
  return text;
}

/** With a path, without a query: the link's kind and its code are added. */
export function linksUrl(text: string): string {
  if (text === '') return '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPage =
    url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && !/[?#]/.test(text);
  if (!isPage) throw new Error(`must be like https://example.com/account, not “${text}”`);
  return url.href.replace(/\/$/, '');
}

/** Absolute; undefined for none. Relative to where a relative database is looked for. */
export function folder(text: string): string | undefined {
  if (text.includes('\0')) throw new Error("can't be a folder: there is a zero byte in it");
  return text === '' ? undefined : resolve(baseFolder(), text);
}

export function databaseUrl(text: string): DatabaseLocation {
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: 'sqlite', path: resolve(baseFolder(), path) };
  if (/^postgres(?:ql)?:\/\//.test(text)) return postgresAddress(text);
  throw new Error('must be like sqlite:data/keyreeve.db or postgres://user:password@host:5432/database');
}

/** The text is never echoed: it may hold a password. */
function postgresAddress(text: string): DatabaseLocation {
  // `postgres://user@/database?host=/run/postgresql` names no host before the path, which a URL must.
  const isSocket = /^\w+:\/\/[^/]*@\//.test(text);
  const whole = isSocket ? text.replace('@/', '@socket/') : text;
  if (!URL.canParse(whole)) throw new Error('is not a URL like postgres://user:password@host:5432/database');
  const url = new URL(whole);
  const database = decodeURIComponent(url.pathname.slice(1));
  const user = decodeURIComponent(url.username);
  if (user === '' || database === '' || database.includes('/')) {
    throw new Error('must name a user and a database: postgres://user:password@host:5432/database');
  }
  const unknown = [...url.searchParams.keys()].find((name) => !['host', 'sslmode', 'sslrootcert'].includes(name));
  if (unknown !== undefined) throw new Error(`has the parameter ${unknown}; known are host, sslmode and sslrootcert`);
  const host = url.searchParams.get('host') ?? url.hostname.replaceAll(/[[\]]/g, '');
  if (isSocket && !host.startsWith('/'))
    throw new Error('must name a host, or the folder of a socket as ?host=/run/postgresql');
  if (
    url.searchParams.has('sslrootcert') &&
    !(url.searchParams.get('sslmode') ?? 'verify-full').startsWith('verify-')
  ) {
    throw new Error('has an sslrootcert, which only the sslmodes verify-ca and verify-full look at');
  }
  // Within one machine nobody else listens.
  const fallback = host.startsWith('/') || isLoopback(host) ? 'disable' : 'verify-full';
  return {
    kind: 'postgres',
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    user,
    password: url.password === '' ? undefined : decodeURIComponent(url.password),
    database,
    sslMode: sslMode(url.searchParams.get('sslmode') ?? fallback),
    sslRootCert: url.searchParams.get('sslrootcert') ?? undefined,
  };
}

/** `allow` and `prefer` would give way to whoever cuts the handshake off. */
function sslMode(text: string): SslMode {
  const mode = sslModes.find((candidate) => candidate === text);
  if (mode === undefined) throw new Error(`has the sslmode ${text}; it must be one of ${sslModes.join(', ')}`);
  return mode;
}

/** The checkout that this file lies in; for a program that was installed as a package, the working folder. */
function baseFolder(): string {
  const here = fileURLToPath(import.meta.url);
  return /[\\/]node_modules[\\/]/.test(here) ? process.cwd() : fileURLToPath(new URL('../../../../', import.meta.url));
}

export function masterKey(text: string): Buffer | undefined {
  if (text === '') return undefined;
  const bytes = Buffer.from(text, 'base64url');
  // The text is never echoed.
  if (!/^[A-Za-z0-9_-]{43}=?$/.test(text) || bytes.length !== masterKeyBytes) {
    throw new Error(`must be ${masterKeyBytes} bytes in base64url: 43 characters`);
  }
  return bytes;
}
