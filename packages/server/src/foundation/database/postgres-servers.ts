/**
 * The servers of a database URL: which of them new connections use, and with which credentials. Passwords and certificates are
 * read again for each connection, so that new ones apply without a restart.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { Client, ClientConfig } from 'pg';
import { monotonicMs } from '../clock.ts';
import { readSecretFile } from '../secret-file.ts';
import { databaseWaits, type DatabaseWaits } from './database-waits.ts';
import { Handover } from './postgres-handover.ts';
import type { PostgresHost, PostgresLocation } from './postgres-url.ts';
import { PrimaryProof } from './primary-proof.ts';

interface Credentials {
  readonly location: PostgresLocation;
  readonly tls: ConnectionOptions | false;
}

export class PostgresServers {
  readonly handover: Handover;
  /** Undefined if an earlier primary is stopped before another server is promoted. */
  readonly proof: PrimaryProof | undefined;
  readonly #location: PostgresLocation;
  #credentials: Credentials;
  #next = 0;
  #primary: PostgresHost | undefined;

  /** @throws Error if a certificate or a key can't be read */
  constructor(location: PostgresLocation) {
    this.#location = location;
    this.handover = new Handover(this.waits.handoverMsMax);
    const { unfenced } = location;
    this.proof = unfenced && new PrimaryProof({ ...unfenced, monotonicMs });
    this.#credentials = { location, tls: tlsOf(location) };
  }

  get count(): number {
    return this.#location.hosts.length;
  }

  get channelBinding(): PostgresLocation['channelBinding'] {
    return this.#location.channelBinding;
  }

  get waits(): DatabaseWaits {
    return this.#location.waits ?? databaseWaits;
  }

  get searchPath(): string | undefined {
    return this.#location.searchPath;
  }

  /** The server of the next connection. */
  get next(): PostgresHost {
    return this.#location.hosts[this.#next] as PostgresHost;
  }

  /** For a new connection to {@link next}. */
  settings(): ClientConfig {
    const { location, tls } = (this.#credentials = this.#readCredentials());
    const { user, password, database, sslNegotiation } = location;
    return {
      ...this.next,
      user,
      ...(password === undefined ? {} : { password }),
      database,
      ssl: tls,
      ...(sslNegotiation === 'direct' ? { sslnegotiation: sslNegotiation } : {}),
      enableChannelBinding: this.channelBinding !== 'disable',
    };
  }

  /** The server could not be reached, or is not the primary. Connections that fail together count as one failure. */
  failed(server: PostgresHost): void {
    if (server === this.next) this.#next = (this.#next + 1) % this.count;
  }

  /** The server of this connection may not be the primary any more. */
  doubted(client: Client): void {
    if (isServerOf(client, this.next)) this.failed(this.next);
  }

  /** Its server is the primary. */
  accepted(client: Client): void {
    this.#next = Math.max(
      0,
      this.#location.hosts.findIndex((server) => isServerOf(client, server)),
    );
    this.#primary = this.next;
  }

  /**
   * After a failover, the earlier primary may still run, in an earlier state: its connections must not be used once another server
   * is the primary.
   */
  isOfPrimary(client: Client): boolean {
    return this.#primary === undefined || isServerOf(client, this.#primary);
  }

  /** What can't be read, or is of another database, leaves the credentials as they were. */
  #readCredentials(): Credentials {
    try {
      const latest = this.#location.latest?.() ?? this.#location;
      const isSame = latest.kind === 'postgres' && targetOf(latest) === targetOf(this.#location);
      const location = isSame ? { ...this.#location, ...credentialsOf(latest) } : this.#credentials.location;
      return { location, tls: tlsOf(location) };
    } catch {
      return this.#credentials;
    }
  }
}

const isServerOf = (client: Client, { host, port }: PostgresHost): boolean =>
  client.host === host && client.port === port;
const targetOf = ({ hosts, database }: PostgresLocation): string => JSON.stringify([hosts, database]);
const credentialsOf = ({ user, password, sslRootCert, sslClient }: PostgresLocation) => ({
  user,
  password,
  sslRootCert,
  sslClient,
});

/** @throws Error */
function tlsOf(location: PostgresLocation): ConnectionOptions | false {
  const { sslMode, sslClient, mayKeyBeWorldReadable = false } = location;
  if (sslMode === 'disable') return false;
  const client: ConnectionOptions = sslClient
    ? {
        cert: readParameterFile('sslcert', sslClient.certificate),
        key: readSecretFile(sslClient.key, subjectOf('sslkey', sslClient.key), {
          mayBeWorldReadable: mayKeyBeWorldReadable,
        }),
      }
    : {};
  if (sslMode === 'require') return { ...client, rejectUnauthorized: false };
  // Explicit, because an environment variable of Node could disable the verification.
  const verified = { ...client, ...trustedBy(location), rejectUnauthorized: true };
  return sslMode === 'verify-ca' ? { ...verified, checkServerIdentity: () => undefined } : verified;
}

/** `system` is the name that libpq has for the certificates of the system, which Node uses without a list. @throws Error */
function trustedBy({ sslRootCert, privateCa }: PostgresLocation): ConnectionOptions {
  if (sslRootCert === 'system') return {};
  if (sslRootCert !== undefined) return { ca: readParameterFile('sslrootcert', sslRootCert) };
  return privateCa === undefined ? {} : { ca: readParameterFile('KEYREEVE_DATABASE_CA', privateCa) };
}

const subjectOf = (parameter: string, path: string): string => `the ${parameter} ${path}`;

function readParameterFile(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new Error(`${subjectOf(parameter, path)} can't be read (${code})`, { cause: error });
  }
}
