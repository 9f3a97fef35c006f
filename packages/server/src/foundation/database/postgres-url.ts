/** The location of a PostgreSQL database, and how its server is authenticated. */
import type { DatabaseWaits } from './database-waits.ts';

export interface PostgresLocation {
  readonly kind: 'postgres';
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly sslMode: SslMode;
  /** Path of the certificates to trust instead of the system's. */
  readonly sslRootCert: string | undefined;
  /** Default: those of the product. */
  readonly waits?: DatabaseWaits;
}

/** The names of libpq. `require` encrypts and verifies nothing; `verify-ca` verifies the certificate, not the host name. */
export const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof sslModes)[number];
