/** The pages that links in mail open: a mail scanner's visit changes nothing, and nothing but their own script runs. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { listAuditEvents } from '../../src/testing/audit-trail.ts';
import { newLife } from './life-kit.ts';
import { test } from './on-each-database.ts';

const paths = ['verify-email', 'reset-password', 'change-email', 'accept-invitation'].map((name) => `/account/${name}`);
const email = 'ada@example.com';

test('a scanner that opens every link, with all it finds there, uses no code up', async () => {
  await using life = await newLife();
  await life.signUp(email);
  const code = await life.verificationCode(email);
  const before = await listAuditEvents(life.app.db);
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'GET']) {
      const answer = await life.app.call(method, `${path}?code=${code}`);
      assert.equal(answer.status, 200, path);
      assert.ok(!answer.text.includes(code), 'the page is the same for everybody');
    }
    for (const method of ['POST', 'PUT', 'DELETE'])
      assert.equal((await life.app.call(method, path, { json: { code } })).status, 405);
  }
  assert.deepEqual(await listAuditEvents(life.app.db), before);
  assert.equal((await life.verify(code)).status, 200);
});

test('a page runs its own script alone, talks to its own service alone, and says nothing about itself elsewhere', async () => {
  await using life = await newLife();
  const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  for (const path of paths) {
    const { text, headers } = await life.app.call('GET', path);
    const scripts = [...text.matchAll(/<script[^>]*>([^]*?)<\/script>/g)].map(([, source = '']) => source);
    const styles = [...text.matchAll(/<style[^>]*>([^]*?)<\/style>/g)].map(([, source = '']) => source);
    assert.deepEqual([scripts.length, styles.length], [1, 1], path);
    assert.equal(
      headers.get('content-security-policy'),
      `default-src 'none'; style-src ${hashOf(styles[0] ?? '')}; script-src ${hashOf(scripts[0] ?? '')}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    assert.doesNotMatch(text, /https?:|src=|href=|\son\w+=|innerHTML|document\.write|eval/);
  }
});

test('a password’s field is one that managers fill and nobody reads over a shoulder', async () => {
  await using life = await newLife();
  for (const path of paths) {
    const { text } = await life.app.call('GET', path);
    const fields = [...text.matchAll(/<label>[^<]+<input ([^>]*)>/g)].map(([, attributes = '']) => attributes);
    assert.ok(fields.length > 0);
    for (const field of fields.filter((attributes) => attributes.includes('name="password"')))
      assert.match(field, /type="password" name="password" autocomplete="(?:new|current)-password"/);
    assert.ok(
      fields.some((attributes) => attributes.includes('type="password"')),
      path,
    );
  }
});
