/** The files of other systems, in the formats in which those systems write them, become records in Keyreeve's own format. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { accountFormats, keyFormats, readHashConfig } from '../formats.ts';
import type { FileObject } from '../file-record.ts';
import type { Records } from '../records.ts';
import { fileOf, options, read } from './read-records.ts';

/** A record of one of the files, by the value of a member. */
function textIn(name: string, pattern: RegExp): string {
  const [, text] = pattern.exec(readFileSync(fileOf(name), 'utf8')) ?? [];
  return text ?? assert.fail(name);
}

const bcrypt = /(\$2[aby]\$10\$[./A-Za-z0-9]{53})/;
const cases: readonly (readonly [
  system: string,
  records: Records,
  file: string,
  found: () => readonly unknown[],
  warnings?: readonly string[],
])[] = [
  [
    'Auth0, users',
    accountFormats.auth0(),
    'auth0-users.json',
    () => [
      {
        oldId: 'auth0|64f0c2a8e1b2c3d4e5f60718',
        email: 'ada@example.com',
        verified: true,
        createdAt: '2023-08-31T17:01:12.345Z',
      },
      {
        oldId: 'auth0|64f0c2a8e1b2c3d4e5f60719',
        email: 'bob@example.com',
        verified: false,
        disabled: true,
        createdAt: '2023-09-01T08:00:00.000Z',
      },
      {
        oldId: 'google-oauth2|103547991597142817347',
        email: 'carol@example.com',
        verified: true,
        createdAt: '2023-09-02T08:00:00.000Z',
      },
    ],
  ],
  [
    'Auth0, hashes',
    accountFormats.auth0(),
    'auth0-hashes.json',
    () => [
      {
        oldId: 'auth0|64f0c2a8e1b2c3d4e5f60718',
        email: 'ada@example.com',
        verified: true,
        passwordHash: textIn('auth0-hashes.json', bcrypt),
      },
      {
        oldId: 'auth0|64f0c2a8e1b2c3d4e5f60719',
        email: 'bob@example.com',
        verified: false,
        passwordHash: textIn('auth0-hashes.json', /(\$2b\$10\$Nn7[./A-Za-z0-9]+)/),
      },
    ],
  ],
  [
    'better-auth, users',
    accountFormats['better-auth'](options),
    'better-auth-users.jsonl',
    () => [
      {
        oldId: 'kX3bXo0hO2l1mH7dC9vT5uN8sR4qW6yZ',
        email: 'ada@example.com',
        verified: true,
        createdAt: '2024-05-01T09:30:00',
        passwordHash: textIn('better-auth-users.jsonl', /"password":"([^"]+)"/),
      },
      {
        oldId: 'pL9kJ2hG5fD8sA1qW4eR7tY0uI3oP6zX',
        email: 'bob@example.com',
        verified: false,
        disabled: true,
        createdAt: '2024-06-01T09:30:00',
      },
    ],
  ],
  [
    'better-auth, keys',
    keyFormats['better-auth'],
    'better-auth-keys.jsonl',
    () => [
      {
        account: 'kX3bXo0hO2l1mH7dC9vT5uN8sR4qW6yZ',
        nickname: 'ci',
        hash: textIn('better-auth-keys.jsonl', /"key":"([^"]+)"/),
        prefix: 'acme_Q',
        disabled: false,
        createdAt: '2024-05-02T10:00:00',
      },
      {
        account: 'kX3bXo0hO2l1mH7dC9vT5uN8sR4qW6yZ',
        nickname: 'Zk2',
        hash: textIn('better-auth-keys.jsonl', /Zk2.*"key":"([^"]+)"/),
        prefix: 'acme_R',
        disabled: true,
        createdAt: '2024-05-02T10:00:00',
      },
    ],
  ],
  [
    'Clerk',
    accountFormats.clerk(),
    'clerk-users.csv',
    () => [
      {
        oldId: 'user_2abCdEfGhIjKlMnOpQrStUvWxYz',
        email: 'ada@example.com',
        verified: true,
        passwordHash: textIn('clerk-users.csv', bcrypt),
        totpSecret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      },
      { oldId: 'user_2bbCdEfGhIjKlMnOpQrStUvWxYz', email: 'bob@example.com', verified: false },
    ],
  ],
  [
    'Django',
    accountFormats.django(),
    'django-users.json',
    () => [
      {
        oldId: '1',
        email: 'ada@example.com',
        passwordHash: textIn('django-users.json', /"(pbkdf2_sha256[^"]+)"/),
        disabled: false,
        createdAt: '2023-08-31T17:01:12.345Z',
      },
      {
        oldId: '2',
        email: 'bob@example.com',
        passwordHash: textIn('django-users.json', /"(![^"]+)"/),
        verified: false,
        disabled: true,
        createdAt: '2023-08-31T17:01:12Z',
      },
    ],
    ['20: the user name is the email address of a user without one; it counts as unverified'],
  ],
  [
    'Firebase',
    accountFormats.firebase({ ...options, hashConfig: readHashConfig(fileOf('firebase-hash-config.txt').pathname) }),
    'firebase-users.json',
    () => [
      {
        oldId: '3vXyZ0AbCdEfGhIjKlMnOpQrStU2',
        email: 'ada@example.com',
        verified: true,
        createdAt: '1693501272345',
        passwordHash:
          '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
      },
      {
        oldId: '4vXyZ0AbCdEfGhIjKlMnOpQrStU2',
        email: 'bob@example.com',
        verified: false,
        disabled: true,
        createdAt: '1693501272345',
      },
      'the user has no email address',
    ],
  ],
  [
    'htpasswd',
    accountFormats.htpasswd({ ...options, emailDomain: 'example.com' }),
    'htpasswd',
    () => [
      { oldId: 'ada', email: 'ada@example.com', passwordHash: textIn('htpasswd', /ada:(.*)/) },
      { oldId: 'bob@example.org', email: 'bob@example.org', passwordHash: textIn('htpasswd', /bob@example.org:(.*)/) },
    ],
  ],
  [
    'Keycloak',
    accountFormats.keycloak(),
    'keycloak-users.json',
    () => {
      const [ada] = (
        JSON.parse(readFileSync(fileOf('keycloak-users.json'), 'utf8')) as { users: { credentials: FileObject[] }[] }
      ).users;
      const { secretData, credentialData } = ada?.credentials[0] ?? {};
      return [
        {
          oldId: '0b5c6f7a-1f9d-4a63-9d0e-0f5b6b1d2c3e',
          email: 'ada@example.com',
          verified: true,
          disabled: false,
          createdAt: 1_693_501_272_345,
          passwordHash: JSON.stringify({ secretData, credentialData }),
          // The text N2dlUkJRbFZQSzBXZ2t0 in base32.
          totpSecret: 'JYZGI3CVNNFFEYSGLJIVG6SCLBNDE5BQ',
        },
        {
          oldId: '1b5c6f7a-1f9d-4a63-9d0e-0f5b6b1d2c3e',
          email: 'bob@example.com',
          verified: false,
          disabled: true,
          createdAt: 1_693_501_272_345,
        },
      ];
    },
    ['56: the user is the service account of a client, so it is left out'],
  ],
  [
    'Kong',
    keyFormats.kong,
    'kong.json',
    () => [
      { account: 'ada@example.com', nickname: 'ci', key: '62eb165c070a41d5c1b58d9d3d725ca1' },
      { account: 'ada@example.com', nickname: 'ci', key: '72eb165c070a41d5c1b58d9d3d725ca1' },
    ],
  ],
  [
    'Supabase',
    accountFormats.supabase(options),
    'supabase-users.jsonl',
    () => [
      {
        oldId: '0d9a1c5e-7a1b-4e0e-8b1f-3f1c6c9d2a11',
        email: 'ada@example.com',
        passwordHash: textIn('supabase-users.jsonl', bcrypt),
        verified: true,
        disabled: false,
        createdAt: '2023-08-31T17:01:12.345678+00:00',
        totpSecret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      },
      {
        oldId: '1d9a1c5e-7a1b-4e0e-8b1f-3f1c6c9d2a11',
        email: 'bob@example.com',
        // It states that there is no password.
        passwordHash: '',
        verified: false,
        disabled: true,
        createdAt: '2023-08-31T17:01:12.345678+00:00',
      },
    ],
    ['3: the user is deleted, so it is left out'],
  ],
  [
    'Unkey',
    keyFormats.unkey,
    'unkey-keys.json',
    () => [
      {
        account: 'ada@example.com',
        nickname: 'ci',
        hash: textIn('unkey-keys.json', /"hash": "([^"]+)"/),
        prefix: 'sk_3Zt',
        disabled: false,
        createdAt: 1_693_501_272_345,
      },
      {
        account: 'ada@example.com',
        nickname: 'old',
        hash: textIn('unkey-keys.json', /"old",\s+"hash": "([^"]+)"/),
        prefix: 'sk_4Zt',
        disabled: false,
        createdAt: 1_693_501_272_345,
        expiresAt: 1_700_000_000_000,
      },
      {
        account: 'ada@example.com',
        nickname: 'key_3',
        hash: textIn('unkey-keys.json', /sk_5Zt",\s+"hash": "([^"]+)"/),
        prefix: 'sk_5Zt',
        disabled: true,
        createdAt: 1_693_501_272_345,
      },
    ],
  ],
  [
    'WordPress',
    accountFormats.wordpress(),
    'wordpress-users.json',
    () => [
      {
        oldId: '1',
        email: 'ada@example.com',
        passwordHash: textIn('wordpress-users.json', /"(\$wp[^"]+)"/),
        createdAt: '2023-08-31 17:01:12',
      },
      {
        oldId: '2',
        email: 'bob@example.com',
        passwordHash: textIn('wordpress-users.json', /"(\$P[^"]+)"/),
        createdAt: '0000-00-00 00:00:00',
      },
    ],
  ],
];
for (const [system, records, file, found, warnings = []] of cases) {
  test(`the file that the system writes is read: ${system}`, async () => {
    assert.deepEqual(await read(records, fileOf(file)), { found: found(), warnings });
  });
}
