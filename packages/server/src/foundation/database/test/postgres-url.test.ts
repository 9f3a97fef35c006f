/** URLs of PostgreSQL databases, also as providers show them. `app/test/invalid-values.ts` has those that are rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePostgresUrl, type PostgresLocation } from '../postgres-url.ts';

const at = (host: string, port = 5432) => ({ hosts: [{ host, port }] });
const local = {
  kind: 'postgres',
  hosts: [{ host: '127.0.0.1', port: 5432 }],
  user: 'keyreeve',
  password: undefined,
  database: 'auth',
  sslMode: 'disable',
  sslRootCert: undefined,
  sslClient: undefined,
  sslNegotiation: 'postgres',
  channelBinding: 'disable',
  searchPath: undefined,
} as const;
const postgresUrls: readonly (readonly [url: string, expected: Partial<PostgresLocation>])[] = [
  ['postgres://keyreeve@127.0.0.1/auth', {}],
  ['postgresql://keyreeve@[::1]:5433/auth', at('::1', 5433)],
  ['postgres://keyreeve@localhost/auth', at('localhost')],
  ['postgres://keyreeve@/auth?host=/run/postgresql', at('/run/postgresql')],
  ['postgres://keyreeve:p%40ss%3A%2F@127.0.0.1/auth', { password: 'p@ss:/' }],
  ['postgres://keyreeve@db.example.com/auth', { ...at('db.example.com'), sslMode: 'verify-full' }],
  ['postgres://keyreeve@db.example.com/auth?sslmode=disable', at('db.example.com')],
  ['postgres://keyreeve@127.0.0.1/auth?sslmode=require', { sslMode: 'require' }],
  [
    'postgres://keyreeve@db/auth?sslmode=verify-ca&sslrootcert=/etc/ca.pem',
    { ...at('db'), sslMode: 'verify-ca', sslRootCert: '/etc/ca.pem' },
  ],
  // As providers show them.
  [
    'postgresql://keyreeve:npg_1@ep-cool-1.eu-central-1.aws.neon.tech/auth?sslmode=require&channel_binding=require',
    {
      ...at('ep-cool-1.eu-central-1.aws.neon.tech'),
      password: 'npg_1',
      sslMode: 'require',
      channelBinding: 'require',
    },
  ],
  ['postgres://keyreeve@127.0.0.1/auth?sslmode=disable&channel_binding=prefer', {}],
  ['postgres://keyreeve@127.0.0.1/auth?connect_timeout=10&application_name=a%20b&target_session_attrs=read-write', {}],
  ['postgres://keyreeve@127.0.0.1/auth?options=-c%20search_path%3Dauth', { searchPath: 'auth' }],
  ['postgres://keyreeve@127.0.0.1/auth?options=-csearch_path=auth,%5C%20public', { searchPath: 'auth, public' }],
  ['postgres://keyreeve@127.0.0.1/auth?options=--search_path=auth', { searchPath: 'auth' }],
  ['postgres://keyreeve@127.0.0.1/auth?options=-c+search_path%3Dauth', { searchPath: 'auth' }],
  ['postgres://keyreeve@127.0.0.1/auth?schema=My%20%22one%22%20', { searchPath: '"My ""one"" "' }],
  [
    'postgres://keyreeve@a.example.com:5433,b.example.com,[2001:db8::1]:5434/auth?target_session_attrs=primary',
    {
      hosts: [
        { host: 'a.example.com', port: 5433 },
        { host: 'b.example.com', port: 5432 },
        { host: '2001:db8::1', port: 5434 },
      ],
      sslMode: 'verify-full',
    },
  ],
  [
    'postgres://keyreeve@127.0.0.1,db.example.com/auth',
    {
      hosts: [
        { host: '127.0.0.1', port: 5432 },
        { host: 'db.example.com', port: 5432 },
      ],
      sslMode: 'verify-full',
    },
  ],
  ['postgres://keyreeve@127.0.0.1/auth?sslmode=prefer', {}],
  ['postgres://keyreeve@db/auth?sslmode=prefer', { ...at('db'), sslMode: 'require' }],
  ['postgres://keyreeve@db/auth?sslmode=allow', { ...at('db'), sslMode: 'require' }],
  ['postgres://keyreeve@db/auth?sslrootcert=system', { ...at('db'), sslMode: 'verify-full', sslRootCert: 'system' }],
  [
    'postgres://keyreeve@db/auth?sslcert=/etc/a+b.crt&sslkey=/etc/a.key&sslnegotiation=direct',
    {
      ...at('db'),
      sslMode: 'verify-full',
      sslClient: { certificate: '/etc/a+b.crt', key: '/etc/a.key' },
      sslNegotiation: 'direct',
    },
  ],
  ['postgres://keyreeve:a@b@127.0.0.1/auth', { password: 'a@b' }],
  ['postgres://keyreeve:a:b@127.0.0.1/auth', { password: 'a:b' }],
  ['postgres://keyreeve:100%25sure@127.0.0.1/auth', { password: '100%sure' }],
  ['postgres://keyreeve@%2Frun%2Fpostgresql/auth', at('/run/postgresql')],
];

for (const [url, expected] of postgresUrls) {
  test(`accepted: ${url}`, () => {
    assert.deepEqual(parsePostgresUrl(url), { ...local, ...expected });
  });
}
