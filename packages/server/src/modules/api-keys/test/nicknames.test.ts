/** Nicknames: allowed characters and uniqueness. */
import assert from 'node:assert/strict';
import type { ErrorCode, ListedKey } from '@keyreeve/contract';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';

const good = {
  'one letter': 'a',
  'sixty-four code points': 'x'.repeat(64),
  'sixty-four code points of four bytes': '😀'.repeat(64),
  'white space inside': 'billing  worker\u00a0eu',
  'other scripts': 'ключ 鍵 مفتاح',
  markup: '"><img src=x onerror=1>',
  SQL: "'; drop table api_keys; --",
  'percent signs': '%00%0d%0a 100 %',
  'a log line': '{"level":"info","event":"x"}',
  'the name of a prototype': '__proto__',
  'a word of JSON': 'null',
  'an emoji of several joined by ZWJ': 'family 👩‍👩‍👧‍👦',
  'an emoji with a variation selector': '❤️',
  'a keycap': '1️⃣',
  'a flag of tag characters': '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'a ligature, which NFC does not change': 'ﬁle',
  // RFC 5892 appendix A.1 and A.2.
  'a ZWNJ between letters (Persian)': 'سرور می\u200cخواهم',
  'a ZWNJ between letters with marks (Persian)': 'مِی\u064e\u200cخواهم',
  'a ZWNJ after a letter that never joins the next (Persian)': 'کلید\u200cها',
  'a ZWNJ after a virama (Hindi)': 'क\u094d\u200cष',
  'a ZWJ after a virama (Sinhala)': 'ශ\u0dca\u200dර\u0dd3 ලංකා',
  'a ZWJ after a virama, at the end (Malayalam)': 'പ്രവീണ\u0d4d\u200d',
  'a ZWNJ after an emoji and a letter': '👩‍💻 می\u200cخواهم',
} as const;

const bad: Readonly<Record<string, readonly [value: unknown, code: ErrorCode]>> = {
  'no characters': ['', 'invalid_request'],
  'sixty-five code points': ['x'.repeat(65), 'nickname_invalid'],
  'sixty-five code points outside the BMP': ['😀'.repeat(65), 'nickname_invalid'],
  'more code points once it is NFC': ['\u0958'.repeat(33), 'nickname_invalid'],
  '257 bytes': ['x'.repeat(257), 'invalid_request'],
  'only a space': [' ', 'nickname_invalid'],
  'a space at the start': [' a', 'nickname_invalid'],
  'a space at the end': ['a ', 'nickname_invalid'],
  'a no-break space at the start': ['\u00a0a', 'nickname_invalid'],
  'an ideographic space at the end': ['a\u3000', 'nickname_invalid'],
  NUL: ['a\u0000b', 'nickname_invalid'],
  'a line feed': ['a\nb', 'nickname_invalid'],
  'a carriage return': ['a\rb', 'nickname_invalid'],
  'a tab': ['a\tb', 'nickname_invalid'],
  'an escape sequence': ['\u001b[31mred', 'nickname_invalid'],
  DEL: ['a\u007fb', 'nickname_invalid'],
  'a C1 control': ['a\u0085b', 'nickname_invalid'],
  'a high surrogate alone': ['a\ud83d', 'nickname_invalid'],
  'a low surrogate alone': ['\ude00a', 'nickname_invalid'],
  'two surrogates in the wrong order': ['\ude00\ud83d', 'nickname_invalid'],
  'a noncharacter': ['a\uffff', 'nickname_invalid'],
  'a noncharacter of the Arabic block': ['a\ufdd0', 'nickname_invalid'],
  'a noncharacter of another plane': ['a\u{1fffe}', 'nickname_invalid'],
  'a right-to-left override': ['a\u202egnp', 'nickname_invalid'],
  'a bidi isolate': ['a\u2066b', 'nickname_invalid'],
  'a left-to-right mark': ['a\u200eb', 'nickname_invalid'],
  'an Arabic letter mark': ['a\u061cb', 'nickname_invalid'],
  'a zero-width space': ['a\u200bb', 'nickname_invalid'],
  'a ZWJ outside an emoji': ['a\u200db', 'nickname_invalid'],
  'a ZWJ at the end of an emoji': ['👩\u200d', 'nickname_invalid'],
  'two ZWJ within an emoji': ['👩\u200d\u200d👧', 'nickname_invalid'],
  'a ZWNJ': ['a\u200cb', 'nickname_invalid'],
  'only a ZWNJ': ['\u200c', 'nickname_invalid'],
  'a ZWNJ at the end of a Persian word': ['می\u200c', 'nickname_invalid'],
  'a ZWNJ before a Persian word': ['\u200cمی', 'nickname_invalid'],
  'a ZWNJ between a Persian and a Latin letter': ['ی\u200ca', 'nickname_invalid'],
  'a ZWNJ between a Latin and a Persian letter': ['a\u200cی', 'nickname_invalid'],
  'two ZWNJ between Persian letters': ['می\u200c\u200cخ', 'nickname_invalid'],
  'a ZWJ between Persian letters': ['می\u200dخ', 'nickname_invalid'],
  'two ZWJ after a virama': ['ශ\u0dca\u200d\u200dර', 'nickname_invalid'],
  'a ZWJ after a consonant without a virama': ['ක\u200dර', 'nickname_invalid'],
  'a ZWNJ between a letter and an emoji': ['ی\u200c👩', 'nickname_invalid'],
  'a ZWNJ between letters that an emoji separates': ['ی\u200c👩خ', 'nickname_invalid'],
  'a word joiner': ['a\u2060b', 'nickname_invalid'],
  'a byte order mark': ['\ufeffa', 'nickname_invalid'],
  'a soft hyphen': ['a\u00adb', 'nickname_invalid'],
  'a variation selector outside an emoji': ['a\ufe0f', 'nickname_invalid'],
  'a combining grapheme joiner': ['a\u034fb', 'nickname_invalid'],
  'a Hangul filler': ['a\u3164b', 'nickname_invalid'],
  'tag characters outside a flag': ['a\u{e0061}\u{e007f}', 'nickname_invalid'],
  'a line separator': ['a\u2028b', 'nickname_invalid'],
  'a paragraph separator': ['a\u2029b', 'nickname_invalid'],
  'a number': [5, 'invalid_request'],
  null: [null, 'invalid_request'],
  true: [true, 'invalid_request'],
  'an array': [['a'], 'invalid_request'],
  'an object': [{ a: 'b' }, 'invalid_request'],
};

test('a readable nickname is stored unchanged', { tags: ['asvs:1.1.2', 'asvs:1.2.1', 'asvs:1.2.3'] }, async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  for (const [what, nickname] of Object.entries(good)) {
    const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname } });
    assert.deepEqual([created.status, (created.json as ListedKey).nickname], [201, nickname], what);
  }
  const listed = (await app.call('GET', '/auth/api-keys', { headers })).json as { apiKeys: ListedKey[] };
  assert.deepEqual(listed.apiKeys.map(({ nickname }) => nickname).toSorted(), Object.values(good).toSorted());
});

test(
  'a nickname with invisible or deceptive characters or a wrong length is rejected',
  { tags: ['asvs:1.3.3', 'asvs:2.2.2', 'asvs:16.4.1'] },
  async () => {
    await using app = await newApp();
    const headers = bearer((await app.signIn()).accessToken);
    for (const [what, [nickname, code]] of Object.entries(bad)) {
      const rejected = await app.call('POST', '/auth/api-keys', { headers, json: { nickname } });
      const { errors = [] } = assertProblem(fromFetch(rejected), code, what);
      assert.equal(errors[0]?.pointer, '/nickname', what);
    }
    assert.deepEqual((await app.call('GET', '/auth/api-keys', { headers })).json, { apiKeys: [] });
  },
);

test('texts with the same NFC form are one nickname', async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const create = (nickname: string) => app.call('POST', '/auth/api-keys', { headers, json: { nickname } });
  const decomposed = await create('cafe\u0301');
  assert.deepEqual([decomposed.status, (decomposed.json as ListedKey).nickname], [201, 'caf\u00e9']);
  for (const twin of ['caf\u00e9', 'cafe\u0301']) assertProblem(fromFetch(await create(twin)), 'nickname_taken', twin);
  // Case, width and compatibility forms stay different.
  for (const other of ['Caf\u00e9', 'cafe', 'ｃａｆ\u00e9']) assert.equal((await create(other)).status, 201, other);
});

test('a nickname is unique in its account, and free again after the deletion of its key', async () => {
  await using app = await newApp();
  const [one, other] = [await app.signIn(), await app.signIn()];
  const create = (accessToken: string) =>
    app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'worker' } });
  const first = (await create(one.accessToken)).json as { id: number; key: string };
  assertProblem(fromFetch(await create(one.accessToken)), 'nickname_taken');
  assert.equal((await create(other.accessToken)).status, 201, 'another account may use it');

  await app.call('DELETE', `/auth/api-keys/${first.id}`, { headers: bearer(one.accessToken) });
  const again = await create(one.accessToken);
  const second = again.json as { id: number; key: string };
  assert.equal(again.status, 201);
  assert.notEqual(second.id, first.id);
  assert.notEqual(second.key, first.key);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(first.key) })).status, 401);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(second.key) })).status, 200);
});

const persian = 'کلید\u200cها';
const [bare, elsewhere] = ['کلیدها', 'کل\u200cیدها'];

testOnBoth('nicknames that differ only by joiners are one nickname, and each keeps its joiners', async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const create = (nickname: string) => app.call('POST', '/auth/api-keys', { headers, json: { nickname } });
  const rename = (id: number, nickname: string) =>
    app.call('PATCH', `/auth/api-keys/${id}`, { headers, json: { nickname } });
  for (const [first, ...twins] of [
    [persian, bare, elsewhere],
    [bare, persian],
    ['👩\u200d💻', '👩💻'],
  ] as const) {
    const created = await create(first);
    const { id, nickname } = created.json as ListedKey;
    assert.deepEqual([created.status, nickname], [201, first]);
    const other = (await create('other')).json as ListedKey;
    for (const twin of [first, ...twins]) {
      assertProblem(fromFetch(await create(twin)), 'nickname_taken', twin);
      assertProblem(fromFetch(await rename(other.id, twin)), 'nickname_taken', twin);
    }
    // A key may change only the joiners of its own nickname.
    for (const twin of [...twins, first]) {
      const renamed = await rename(id, twin);
      assert.deepEqual([renamed.status, (renamed.json as ListedKey).nickname], [200, twin], renamed.text);
    }
    for (const one of [id, other.id])
      assert.equal((await app.call('DELETE', `/auth/api-keys/${one}`, { headers })).status, 200);
  }
});

testOnBoth('of 16 concurrent creations with nicknames that differ only by joiners, one succeeds', async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const names = [persian, bare, elsewhere, 'ک\u200cلیدها'];
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, rival) =>
      app.call('POST', '/auth/api-keys', { headers, json: { nickname: names[rival % names.length] } }),
    ),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [201, ...Array.from({ length: 15 }, () => 409)]);
});
