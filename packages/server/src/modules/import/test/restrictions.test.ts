/** Restrictions that other systems record are kept, or cost the record. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decode } from '../decoded.ts';
import { accountFormats, keyFormats } from '../formats.ts';
import type { Records } from '../records.ts';
import { hashConfigOf } from '../sources/firebase.ts';
import { fileOf, options, read } from './read-records.ts';

const credential = (credentialData: object, value = 'secret') => ({
  type: 'otp',
  secretData: JSON.stringify({ value }),
  credentialData: JSON.stringify({ subType: 'totp', digits: 6, period: 30, algorithm: 'HmacSHA1', ...credentialData }),
});
const keycloakUser = (...credentials: readonly object[]) =>
  JSON.stringify({ users: [{ email: 'a@example.com', credentials }] });
const withoutRights: readonly (readonly [what: string, records: Records, file: string, found: unknown])[] = [
  [
    'a flag of another type',
    accountFormats.auth0(),
    '{"email":"a@example.com","blocked":"maybe"}',
    'blocked is not true or false',
  ],
  [
    'a ban without an end',
    accountFormats['better-auth'](options),
    '{"email":"a@example.com","banned":1,"banExpires":null}',
    { email: 'a@example.com', disabled: true },
  ],
  [
    'a ban with an end that cannot be read',
    accountFormats['better-auth'](options),
    '{"email":"a@example.com","banned":true,"banExpires":"later"}',
    { email: 'a@example.com', disabled: true },
  ],
  [
    'a ban that has ended',
    accountFormats['better-auth'](options),
    '{"email":"a@example.com","banned":true,"banExpires":"2024-01-01 00:00:00"}',
    { email: 'a@example.com', disabled: false },
  ],
  [
    'a second factor with 8 digits',
    accountFormats.keycloak(),
    keycloakUser(credential({ digits: 8 })),
    'the authenticator app does not use TOTP with SHA-1, 6 digits and 30 seconds',
  ],
  [
    'a second factor that counts',
    accountFormats.keycloak(),
    keycloakUser(credential({ subType: 'hotp' })),
    'the authenticator app does not use TOTP with SHA-1, 6 digits and 30 seconds',
  ],
  [
    'a second factor in base32',
    accountFormats.keycloak(),
    keycloakUser(credential({ secretEncoding: 'BASE32' }, 'JBSWY3DPEHPK3PXP')),
    { email: 'a@example.com', totpSecret: 'JBSWY3DPEHPK3PXP' },
  ],
  [
    'a password whose parameters are not known',
    accountFormats.firebase(options),
    '{"users":[{"email":"a@example.com","passwordHash":"aGFzaA==","salt":"c2FsdA=="}]}',
    'the user has a password: add --hash-config with the hash parameters of the project',
  ],
  [
    'a key with a lifetime',
    keyFormats.kong,
    '{"data":[{"key":"sk_1","consumer":{"id":"c1"},"created_at":1700000000,"ttl":60,"tags":null}]}',
    { account: 'c1', key: 'sk_1', createdAt: 1_700_000_000, expiresAt: '2023-11-14T22:14:20.000Z' },
  ],
];
for (const [what, records, file, found] of withoutRights) {
  test(`a restriction of the other system is kept or costs the record: ${what}`, async () => {
    assert.deepEqual((await read(records, file)).found, [found]);
  });
}

const unverified: readonly (readonly [what: string, records: Records, file: string, isVerified: boolean])[] = [
  [
    'a confirmed phone number of Supabase',
    accountFormats.supabase(options),
    '{"email":"a@example.com","email_confirmed_at":null,"confirmed_at":"2024-01-01","phone_confirmed_at":"2024-01-01"}',
    false,
  ],
  [
    'NULL as the time of a confirmation',
    accountFormats.supabase(options),
    'id,email,email_confirmed_at\n1,a@example.com,NULL\n',
    false,
  ],
  [
    'a time of a confirmation',
    accountFormats.supabase(options),
    'id,email,email_confirmed_at\n1,a@example.com,2024-01-05 10:00:00.123456+00\n',
    true,
  ],
  [
    'an address of Clerk without a verification',
    accountFormats.clerk(),
    '{"primary_email_address_id":"e1","email_addresses":[{"id":"e1","email_address":"a@example.com","verification":null}]}',
    false,
  ],
  [
    'a file of Clerk without a column of unverified addresses',
    accountFormats.clerk(),
    'id,primary_email_address,verified_email_addresses\n1,a@example.com,\n',
    false,
  ],
  [
    'a user name of Django',
    accountFormats.django(),
    '[{"model":"auth.user","pk":1,"fields":{"username":"a@example.com","email":"","password":"!"}}]',
    false,
  ],
];
for (const [what, records, file, isVerified] of unverified) {
  test(`an email address that the other system has not verified does not count as verified: ${what}`, async () => {
    const { found } = await read(records, file);
    assert.deepEqual(
      found.map((record) => (record as { verified?: boolean }).verified),
      [isVerified],
      JSON.stringify(found),
    );
  });
}

test('a file that is compressed twice is rejected, because a file can contain itself', async () => {
  const bytes = gzipSync(gzipSync('{"email":"a@example.com"}'));
  await assert.rejects(async () => {
    for await (const part of decode(Readable.from([bytes]))) assert.ok(part.length > 0);
  }, /the file is compressed twice/);
});

test('a user of better-auth with its accounts, one in each line, has the password of the credential account', async () => {
  const user = (email: string, password: string) =>
    JSON.stringify({ email, accounts: [{ providerId: 'github' }, { providerId: 'credential', password }] });
  const file = `${user('a@example.com', 'one')}\n${user('b@example.com', 'two')}\n`;
  assert.deepEqual((await read(accountFormats['better-auth'](options), file)).found, [
    { email: 'a@example.com', passwordHash: 'one' },
    { email: 'b@example.com', passwordHash: 'two' },
  ]);
});

test('the hash parameters of a project are read as the console of Firebase shows them, and rejected otherwise', () => {
  const text = readFileSync(fileOf('firebase-hash-config.txt'), 'utf8');
  const { signerKey, ...rest } = hashConfigOf(text);
  assert.deepEqual([signerKey.length, rest], [88, { saltSeparator: 'Bw==', rounds: 8, memCost: 14 }]);
  assert.throws(() => hashConfigOf(text.replace('mem_cost', 'cost')), /lacks base64_signer_key/);
  assert.throws(
    () => hashConfigOf(text.replace('SCRYPT', 'PBKDF2_SHA256')),
    /algorithm of the hash config is PBKDF2_SHA256/,
  );
});
