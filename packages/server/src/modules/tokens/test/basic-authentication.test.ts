/** Sign-in with HTTP Basic: accepted and rejected credentials, and rejections that disclose nothing. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { basic, goodPassword, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const email = 'you@example.com';
const challenge = 'Basic realm="keyreeve", charset="UTF-8"';
const encode = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64');
const good = encode(`${email}:${goodPassword}`);
/** One byte beyond a group of three: it ends in `==`. */
const padded = encode(`${email}:${goodPassword}!!`);
/** Contains both characters in which base64url differs from base64. */
const urlAlphabet = 'Basic ' + encode(`${email}:>>>???~~~`).replaceAll('/', '_').replaceAll('+', '-');
const latin1 = (text: string): string => encode(Buffer.from(text, 'latin1'));

/** Rejected by the parser: no attempt is counted and no password is hashed. */
const malformed: readonly (readonly [what: string, authorization: string | undefined])[] = [
  ['no header', undefined],
  ['an empty header', ''],
  ['the scheme alone', 'Basic'],
  ['another scheme', `Digest ${good}`],
  ['Bearer', `Bearer ${good}`],
  ['no space after the scheme', `Basic${good}`],
  ['a tab after the scheme', `Basic\t${good}`],
  ['a longer scheme', `Basics ${good}`],
  ['email and password in clear', `Basic ${email}:${goodPassword}`],
  ['no padding', `Basic ${padded.slice(0, -2)}`],
  ['half of the padding', `Basic ${padded.slice(0, -1)}`],
  ['too much padding', `Basic ${good}====`],
  ['padding alone', 'Basic ===='],
  ['padding in the middle', `Basic ${encode('you@example.com:w')}${encode('ombat orbit velvet 42')}`],
  ['bits that are not zero under the padding', `Basic ${padded.slice(0, -3)}R==`],
  ['base64url', urlAlphabet],
  ['a space inside', `Basic ${good.slice(0, 8)} ${good.slice(8)}`],
  ['more after it', `Basic ${good} x`],
  ['a parameter', `Basic ${good};charset=utf-8`],
  ['two credentials in one line', `Basic ${good}, Basic ${good}`],
  ['a character outside ASCII', `Basic ${good.slice(0, -1)}é`],
  ['no colon', `Basic ${encode(email)}`],
  ['a colon alone', `Basic ${encode(':')}`],
  ['no email', `Basic ${encode(`:${goodPassword}`)}`],
  ['no password', `Basic ${encode(`${email}:`)}`],
  ['nothing', `Basic ${encode('')}`],
  [
    'a cut UTF-8 sequence',
    `Basic ${encode(Buffer.concat([Buffer.from(`${email}:wombat orbit `), Buffer.of(0xe2, 0x82)]))}`,
  ],
  ['a surrogate in UTF-8', `Basic ${latin1(`${email}:wombat orbit \xed\xa0\x80`)}`],
  ['NUL after the password', `Basic ${encode(`${email}:${goodPassword}\0`)}`],
  ['a line feed after the password', `Basic ${encode(`${email}:${goodPassword}\n`)}`],
  ['NUL in the email', `Basic ${encode(`${email}\0:${goodPassword}`)}`],
  ['a line end in the email', `Basic ${encode(`${email}\r\nX:${goodPassword}`)}`],
  ['DEL', `Basic ${encode(`${email}:${goodPassword}\x7f`)}`],
  ['a C1 control', `Basic ${encode(`${email}:${goodPassword}\u0085`)}`],
  ['ISO-8859-1 with a line feed', `Basic ${latin1(`${email}:pässword\npässword`)}`],
  ['ISO-8859-1 with a C1 control', `Basic ${latin1(`${email}:pässword\x85pässword`)}`],
  ['Windows-1252 with a euro sign', `Basic ${latin1(`${email}:pässword \x80 pässword`)}`],
  ['ISO-8859-1 with 1,026 bytes in UTF-8', `Basic ${latin1(`${email}:${'é'.repeat(513)}`)}`],
  ['an email of 255 characters', `Basic ${encode(`${'a'.repeat(243)}@example.com:${goodPassword}`)}`],
  ['a password of 1,025 bytes', `Basic ${encode(`${email}:${'x'.repeat(1025)}`)}`],
  ['a password of 1,026 bytes in 513 characters', `Basic ${encode(`${email}:${'é'.repeat(513)}`)}`],
  ['a header beyond its limit', `Basic ${'A'.repeat(4096)}`],
];

/** Well formed but wrong: each costs the same work as a wrong password. */
const wrong: readonly (readonly [what: string, email: string, password: string])[] = [
  ['a wrong password', email, `${goodPassword}!`],
  ['an unknown email', 'unknown@example.com', goodPassword],
  ['a disabled account', 'disabled@example.com', goodPassword],
  ['no email address', 'you', goodPassword],
  ['a byte order mark before the email', `\uFEFF${email}`, goodPassword],
  ['a byte order mark before the password', email, `\uFEFF${goodPassword}`],
  ['a space before the password', email, ` ${goodPassword}`],
  ['a space after the password', email, `${goodPassword} `],
  ['another case in the password', email, goodPassword.toUpperCase()],
  ['a space before the email', ` ${email}`, goodPassword],
  ['a compatibility form of the password', email, goodPassword.replace('4', '４')],
];

const post = (app: TestApp, authorization: string | undefined): Promise<Answered> =>
  app.call('POST', '/auth/token', authorization === undefined ? {} : { headers: { authorization } });

/** The response without its date and request id, which always differ. */
function visible({ status, headers, text, json }: Answered): unknown {
  const { requestId } = json as { requestId: string };
  assert.match(requestId, /^[\w-]{16}$/);
  const same = [...headers].filter(([name]) => name !== 'date');
  return { status, headers: same, text: text.replace(requestId, '') };
}

function assertRejected(answer: Answered, what: string): void {
  assert.equal(answer.status, 401, what);
  assert.equal((answer.json as { code: string }).code, 'invalid_credentials', what);
  assert.equal(answer.headers.get('www-authenticate'), challenge, what);
  assert.equal(answer.headers.get('cache-control'), 'no-store', what);
}

/** Sends header lines unchanged. `fetch` would join two lines of one name. */
function postRaw(app: TestApp, lines: readonly string[]): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const url = new URL('/auth/token', app.url);
    const sent = request(url, { method: 'POST', headers: ['Host', url.host, ...lines] }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, text })).on('error', reject);
    });
    sent.on('error', reject).end();
  });
}

test(
  'a malformed Basic credential is rejected like a wrong password, but not hashed or counted',
  { tags: ['asvs:1.1.1', 'asvs:7.6.2'] },
  async () => {
    await using app = await newApp();
    await app.createAccount(email);
    const { hasher } = app.service.services;
    const hashed = hasher.stats.hashed;
    const expected = visible(await post(app, basic(email, 'not it').authorization));
    for (const [what, authorization] of malformed) {
      const answer = await post(app, authorization);
      assertRejected(answer, what);
      assert.deepEqual(visible(answer), expected, what);
      assert.equal(hasher.stats.hashed, hashed + 1, what);
    }
    assert.equal((await post(app, `Basic ${good}`)).status, 200);
  },
);

test('a wrong password, an unknown email and a disabled account get the same response after the same work', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' } });
  await app.createAccount(email);
  const { id } = await app.createAccount('disabled@example.com');
  await app.service.services.accounts.disable(operator, id);
  const { hasher } = app.service.services;
  let expected: unknown;
  for (const [what, user, password] of wrong) {
    const hashed = hasher.stats.hashed;
    const answer = await post(app, basic(user, password).authorization);
    assertRejected(answer, what);
    assert.equal(hasher.stats.hashed, hashed + 1, what);
    expected ??= visible(answer);
    assert.deepEqual(visible(answer), expected, what);
  }
  assert.equal((await post(app, `Basic ${good}`)).status, 200);
});

test('two Authorization headers, or an API key beside Basic, are rejected', { tags: ['asvs:15.3.7'] }, async () => {
  await using app = await newApp();
  await app.createAccount(email);
  const right = `Basic ${good}`;
  const tables = [
    ['Authorization', right, 'Authorization', right],
    ['Authorization', right, 'authorization', 'Basic eDp5'],
    ['authorization', 'Basic eDp5', 'AUTHORIZATION', right],
    ['Authorization', right, 'X-API-Key', 'krv_x'],
  ];
  for (const lines of tables) {
    const { status, text } = await postRaw(app, lines);
    assert.equal(status, 401, lines.join());
    assert.equal((JSON.parse(text) as { code: string }).code, 'invalid_credentials', lines.join());
  }
  assert.equal((await postRaw(app, ['Authorization', right])).status, 200);
});

test('the scheme may have any case, and any number of spaces after it', async () => {
  await using app = await newApp();
  await app.createAccount(email);
  for (const scheme of ['basic ', 'BASIC ', 'bAsIc ', 'Basic    ']) {
    assert.equal((await post(app, scheme + good)).status, 200, scheme);
  }
});

test(
  'a password is compared unchanged: colons, spaces, any script, up to 1,024 bytes',
  { tags: ['asvs:6.2.8'] },
  async () => {
    await using app = await newApp();
    const passwords = [
      'wombat:orbit:velvet:42:',
      ':wombat orbit velvet',
      '  wombat orbit velvet  ',
      'Straße 42 crème brûlée',
      '正しい馬電池ホッチキス青空散歩道具',
      '🦦🪐🧵🫖🎻🌋🧊🪁🦉🐙🎈🧭🥁🪴🛶',
      'wombat0orbit1'.repeat(78) + '0123456789',
    ];
    assert.equal(Buffer.byteLength(passwords.at(-1) ?? ''), 1024);
    for (const [index, password] of passwords.entries()) {
      const user = `user${index}@example.com`;
      await app.createAccount(user, password);
      assert.equal((await app.call('POST', '/auth/token', { headers: basic(user, password) })).status, 200, password);
      const twin = `${password.slice(0, -2)}xy`;
      assert.equal((await app.call('POST', '/auth/token', { headers: basic(user, twin) })).status, 401, password);
    }
  },
);

test('bytes that are not UTF-8 are ISO-8859-1: the password signs in, with one hash', async () => {
  await using app = await newApp();
  const { hasher } = app.service.services;
  const passwords = ['crème brûlée für Zoë 7', 'Ärger mit Straße ÿ 42', '\xa0wombat orbit velvet 42\xff'];
  for (const [index, password] of passwords.entries()) {
    const user = `zoe${index}@bücher.example`;
    await app.createAccount(user, password);
    const hashed = hasher.stats.hashed;
    assert.equal((await post(app, `Basic ${latin1(`${user}:${password}`)}`)).status, 200, password);
    assert.equal(hasher.stats.hashed, hashed + 1, password);
    assertRejected(await post(app, `Basic ${latin1(`${user}:${password}ü`)}`), password);
    assert.equal(hasher.stats.hashed, hashed + 2, password);
  }
});

test('bytes that are UTF-8 are never read as ISO-8859-1', async () => {
  await using app = await newApp();
  const password = 'crème brûlée für Zoë 7';
  // The characters that a decoder for ISO-8859-1 makes of the UTF-8 bytes of the password.
  const misread = Buffer.from(password).toString('latin1');
  await app.createAccount(email, misread);
  assertRejected(await post(app, `Basic ${encode(`${email}:${password}`)}`), 'UTF-8');
  assert.equal((await post(app, `Basic ${latin1(`${email}:${misread.replace('©', '\xaf')}`)}`)).status, 401);
  assert.equal((await post(app, `Basic ${encode(`${email}:${misread}`)}`)).status, 200, 'the password itself');
});

test('a wrong password in ISO-8859-1 counts as one failed sign-in', async () => {
  await using app = await newApp({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' } });
  const failuresUntilLimit = async (user: string, clientIp: string, encodeText: (text: string) => string) => {
    await app.createAccount(user);
    const authorization = `Basic ${encodeText(`${user}:wrong pässword`)}`;
    const attempt = () => app.call('POST', '/auth/token', { headers: { authorization, 'x-forwarded-for': clientIp } });
    let failures = 0;
    while ((await attempt()).status === 401) failures++;
    return failures;
  };
  const inUtf8 = await failuresUntilLimit('utf8@example.com', '192.0.2.1', encode);
  assert.ok(inUtf8 > 1);
  assert.equal(await failuresUntilLimit('latin1@example.com', '198.51.100.1', latin1), inUtf8);
});

test('a composed and a decomposed password are the same password', { tags: ['asvs:6.2.8'] }, async () => {
  await using app = await newApp();
  const composed = 'crème brûlée 42 Ångström'.normalize('NFC');
  const decomposed = composed.normalize('NFD');
  assert.notEqual(composed, decomposed);
  await app.createAccount('composed@example.com', composed);
  await app.createAccount('decomposed@example.com', decomposed);
  for (const user of ['composed@example.com', 'decomposed@example.com']) {
    for (const password of [composed, decomposed]) {
      assert.equal((await app.call('POST', '/auth/token', { headers: basic(user, password) })).status, 200);
    }
  }
});

test('an email finds only its own account, in any case and in both forms of its domain', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' } });
  const { id } = await app.createAccount('Jo.Doe+work@Bücher.example');
  const aliases = [
    'Jo.Doe+work@Bücher.example',
    'jo.doe+work@bücher.example',
    'JO.DOE+WORK@BÜCHER.EXAMPLE',
    'jo.doe+work@xn--bcher-kva.example',
    'jo.doe+work@XN--BCHER-KVA.example',
    'jo.doe+work@Bu\u0308cher.example',
  ];
  for (const alias of aliases) {
    const answer = await app.call('POST', '/auth/token', { headers: basic(alias, goodPassword) });
    assert.equal(answer.status, 200, alias);
    const [, payload = ''] = (answer.json as { accessToken: string }).accessToken.split('.');
    assert.equal((JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub, id, alias);
  }
  const others = ['jo.doe@bücher.example', 'jodoe+work@bücher.example', 'jo.doe+work@bucher.example'];
  for (const other of others) {
    assert.equal((await app.call('POST', '/auth/token', { headers: basic(other, goodPassword) })).status, 401, other);
  }
});

test('the body and its content type are ignored', async () => {
  await using app = await newApp();
  await app.createAccount(email);
  const bodies: readonly (readonly [contentType: string, body: string])[] = [
    ['application/json', '{"email":'],
    ['application/json', JSON.stringify({ email: 'x@example.com', password: 'y', __proto__: null })],
    ['text/plain', 'anything'],
    ['application/x-www-form-urlencoded', 'grant_type=password&username=x'],
    ['no media type', 'x'.repeat(20_000)],
  ];
  for (const [contentType, body] of bodies) {
    const headers = { authorization: `Basic ${good}`, 'content-type': contentType };
    assert.equal((await app.call('POST', '/auth/token', { headers, body })).status, 200, contentType);
  }
});
