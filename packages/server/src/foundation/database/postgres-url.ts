/**
 * The location of a PostgreSQL database, as a connection URI of libpq
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS), with the parameters that providers of
 * databases put into theirs.
 */
import { isLoopback } from '../ip-address.ts';
import type { DatabaseWaits, UnfencedTimes } from './database-waits.ts';

export interface PostgresHost {
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

export interface PostgresLocation {
  readonly kind: 'postgres';
  /** At least one. One of them is the primary. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly sslMode: SslMode;
  /** Path of the certificates to trust, or `system`. */
  readonly sslRootCert: string | undefined;
  /** Paths of the certificate of the client and of its private key. */
  readonly sslClient: { readonly certificate: string; readonly key: string } | undefined;
  /** `direct`: TLS without the message that asks PostgreSQL for it. */
  readonly sslNegotiation: (typeof sslNegotiations)[number];
  /** Whether the sign-in proves that both sides see the same certificate of the server (RFC 5929, `tls-server-end-point`). */
  readonly channelBinding: (typeof channelBindings)[number];
  /** The schemas in which the tables are. Undefined: as the role and the database have it. */
  readonly searchPath: string | undefined;
  /** Reads the database URL again: its user, password and certificates can be new ones. Default: they stay as they are. */
  readonly latest?: () => PostgresLocation | { readonly kind: 'sqlite' };
  /** Path of the certificates to trust if the URL has none. Default: the system's. */
  readonly privateCa?: string | undefined;
  /** Whether other users may read the private key of the client. Default: no. */
  readonly mayKeyBeWorldReadable?: boolean;
  /** Default: those of the product. */
  readonly waits?: DatabaseWaits;
  /** Set if a standby can be promoted while the earlier primary still answers. */
  readonly unfenced?: UnfencedTimes | undefined;
}

/** The names of libpq. `require` encrypts and verifies nothing; `verify-ca` verifies the certificate, not the host name. */
export const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof sslModes)[number];
/** An attacker on the network can make clients of these modes fall back to plain text, so Keyreeve does not. */
const opportunisticModes = ['allow', 'prefer'] as const;
const sslNegotiations = ['postgres', 'direct'] as const;
const channelBindings = ['disable', 'prefer', 'require'] as const;

/** With these, the server is the primary, which Keyreeve needs in any case. */
const primaryAttributes = ['any', 'read-write', 'primary'];
/** Their values have no effect: Keyreeve sets these itself for each of its connections, or does not use them. */
const withoutEffect = [
  'application_name',
  'fallback_application_name',
  'connect_timeout',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
];
const withEffect = [
  'host',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'channel_binding',
  'target_session_attrs',
  'options',
  'schema',
];

const example = 'postgres://user:password@host:5432/database';
const encoding =
  'percent-encode special characters of the user and the password: % as %25, / as %2F, ? as %3F, # as %23, @ as %40, : as %3A';
const defaultPort = '5432';

/**
 * @param text begins with `postgres://` or `postgresql://`
 * @throws Error whose message completes “NAME …”. It omits the text, which may contain a password
 */
export function parsePostgresUrl(text: string): PostgresLocation {
  const parts = /^\w+:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (!parts) throw new Error(`is not a URL like ${example}; ${encoding}`);
  const [, authority = '', path = '', query = ''] = parts;
  // As in the URLs of the web, the last one ends the password.
  const at = authority.lastIndexOf('@');
  const [, user = '', password] = /^([^:]*)(?::(.*))?$/s.exec(authority.slice(0, Math.max(0, at))) ?? [];
  const database = decode(path, 'name of the database');
  if (user === '' || database === '' || database.includes('/'))
    throw new Error(`must name a user and a database: ${example}; ${encoding}`);
  const parameters = readParameters(query);
  const hosts = hostsOf(authority.slice(at + 1), parameters.get('host'));
  const sslMode = sslModeOf(parameters.get('sslmode'), hosts);
  return {
    kind: 'postgres',
    hosts,
    user: decode(user, 'user'),
    password: password === undefined || password === '' ? undefined : decode(password, 'password'),
    database,
    sslMode,
    ...certificatesOf(parameters, sslMode),
    channelBinding: channelBindingOf(parameters, sslMode),
    searchPath: searchPathOf(parameters.get('options'), parameters.get('schema')),
  };
}

/** @throws Error */
function decode(text: string, what: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new Error(`has a % in the ${what} that begins no percent-encoded character: write % as %25`);
  }
  if (decoded.includes('\0')) throw new Error(`has a zero byte in the ${what}`);
  return decoded;
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split('&').filter((text) => text !== '')) {
    const end = part.includes('=') ? part.indexOf('=') : part.length;
    const name = decode(part.slice(0, end), 'name of a parameter');
    if (name === 'pgbouncer')
      throw new Error(
        'has the parameter pgbouncer, so it is the URL of a connection pooler in transaction mode: use that of the database, or of a pooler in session mode, without this parameter',
      );
    if (!withEffect.includes(name) && !withoutEffect.includes(name))
      throw new Error(
        `has the unknown parameter ${name}: remove it. The known ones are ${[...withEffect, ...withoutEffect].join(', ')}`,
      );
    if (parameters.has(name)) throw new Error(`has the parameter ${name} twice`);
    parameters.set(name, decode(part.slice(end + 1), `parameter ${name}`));
  }
  const attributes = parameters.get('target_session_attrs') ?? 'any';
  if (!primaryAttributes.includes(attributes))
    throw new Error(
      `has the target_session_attrs ${attributes}, but Keyreeve needs the primary: remove it, or set read-write`,
    );
  return parameters;
}

/** @param given the parameter, for a folder of a socket or several hosts */
function hostsOf(authority: string, given: string | undefined): readonly PostgresHost[] {
  const listed = authority.split(',').map(hostOf);
  const [{ port }] = listed as [PostgresHost];
  const hosts = given === undefined ? listed : given.split(',').map((host) => ({ host, port }));
  if (hosts.some(({ host }) => host === ''))
    throw new Error('must name a host, or the folder of a socket as ?host=/run/postgresql');
  return hosts;
}

function hostOf(text: string): PostgresHost {
  const [, ip, name = '', port = defaultPort] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [
    undefined,
    undefined,
    undefined,
    '',
  ];
  const host = ip ?? decode(name, 'host');
  const isHost = ip !== undefined || host.startsWith('/') || /^[\w.-]*$/.test(host);
  if (!isHost || !(Number(port) >= 1 && Number(port) <= 65_535))
    throw new Error(`is not a URL like ${example}; ${encoding}`);
  return { host, port: Number(port) };
}

function sslModeOf(given: string | undefined, hosts: readonly PostgresHost[]): SslMode {
  // A connection within the machine does not cross a network.
  const isWithinMachine = hosts.every(({ host }) => host.startsWith('/') || isLoopback(host));
  const isOpportunistic = opportunisticModes.some((mode) => mode === given);
  if (isWithinMachine && (given === undefined || isOpportunistic)) return 'disable';
  if (isOpportunistic) return 'require';
  return oneOf(sslModes, given ?? 'verify-full', 'sslmode', [...opportunisticModes, ...sslModes]);
}

/** Whether the certificate of the server is. */
export const isVerified = ({ sslMode }: Pick<PostgresLocation, 'sslMode'>): boolean => sslMode.startsWith('verify-');

type Certificates = Pick<PostgresLocation, 'sslRootCert' | 'sslClient' | 'sslNegotiation'>;

function certificatesOf(parameters: ReadonlyMap<string, string>, sslMode: SslMode): Certificates {
  const rootCert = parameters.get('sslrootcert');
  if (rootCert !== undefined && !isVerified({ sslMode }))
    throw new Error('has an sslrootcert, which only the sslmodes verify-ca and verify-full use');
  const [certificate, key] = [parameters.get('sslcert'), parameters.get('sslkey')];
  if ((certificate === undefined) !== (key === undefined))
    throw new Error('must have both sslcert and sslkey, or neither');
  if (certificate !== undefined && sslMode === 'disable')
    throw new Error('has an sslcert, which the sslmode disable does not use');
  const sslNegotiation = oneOf(sslNegotiations, parameters.get('sslnegotiation') ?? 'postgres', 'sslnegotiation');
  if (sslNegotiation === 'direct' && sslMode === 'disable')
    throw new Error('has sslnegotiation=direct, which needs another sslmode than disable');
  return {
    sslRootCert: rootCert,
    sslClient: certificate === undefined || key === undefined ? undefined : { certificate, key },
    sslNegotiation,
  };
}

function channelBindingOf(
  parameters: ReadonlyMap<string, string>,
  sslMode: SslMode,
): PostgresLocation['channelBinding'] {
  const binding = oneOf(channelBindings, parameters.get('channel_binding') ?? 'disable', 'channel_binding');
  if (sslMode !== 'disable') return binding;
  if (binding === 'require') throw new Error('has channel_binding=require, which needs another sslmode than disable');
  return 'disable';
}

/** Other options of the server would change the session, which Keyreeve sets itself. */
function searchPathOf(options: string | undefined, schema: string | undefined): string | undefined {
  if (options !== undefined && schema !== undefined) throw new Error('has both options and schema: remove one of them');
  // As other libraries for PostgreSQL understand it, a name of one schema, not a list.
  if (schema !== undefined) return quoted(schema);
  if (options === undefined) return undefined;
  // Some programs encode a space as +. A backslash makes a space part of the value.
  const [, value] = /^\s*(?:-c\s*|--)search_path=((?:[^\s\\]|\\.)+)\s*$/.exec(options.replaceAll('+', ' ')) ?? [];
  if (value === undefined)
    throw new Error(
      'has options other than -c search_path=SCHEMA: remove them. Keyreeve sets those of its sessions itself',
    );
  return value.replaceAll(/\\(.)/g, '$1');
}

function quoted(name: string): string {
  if (name === '') throw new Error('has an empty schema');
  return `"${name.replaceAll('"', '""')}"`;
}

function oneOf<const T extends string>(
  allowed: readonly T[],
  text: string,
  name: string,
  named = allowed as readonly string[],
): T {
  const value = allowed.find((candidate) => candidate === text);
  if (value === undefined) throw new Error(`has the ${name} ${text}; it must be one of ${named.join(', ')}`);
  return value;
}
