/** Where a PostgreSQL database lies, and how far its server is trusted. */

export interface PostgresLocation {
  readonly kind: 'postgres';
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  readonly sslMode: SslMode;
  /** Path of the certificates that are trusted instead of the system's. */
  readonly sslRootCert: string | undefined;
}

/** As libpq names them. `require` encrypts and verifies nothing; `verify-ca` verifies all but the host's name. */
export const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof sslModes)[number];
