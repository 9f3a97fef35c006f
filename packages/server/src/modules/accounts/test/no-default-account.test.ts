/** A new installation has no default account (ASVS 6.3.2, 13.2.3). */
import assert from 'node:assert/strict';
import { basic, newApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const names = ['admin', 'administrator', 'root', 'sa', 'postgres', 'keyreeve', 'test', 'guest'];
const domains = ['localhost', 'example.com', 'localhost.localdomain', 'keyreeve.local'];
const passwords = ['admin', 'password', 'keyreeve', 'changeme', 'keyreeve-keyreeve'];

test(
  'a new installation has no account and rejects common default names and passwords',
  { tags: ['asvs:6.3.2', 'asvs:13.2.3'] },
  async () => {
    await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' } });
    assert.deepEqual(await Array.fromAsync(app.service.services.accounts.list()), []);
    for (const name of names) {
      for (const email of [name, ...domains.map((domain) => `${name}@${domain}`)]) {
        for (const password of [name, '', ...passwords]) {
          const answer = await app.call('POST', '/auth/token', { headers: basic(email, password) });
          assert.equal(answer.status, 401, `${email}:${password}`);
        }
      }
    }
    assert.deepEqual(await Array.fromAsync(app.service.services.accounts.list()), []);
  },
);
