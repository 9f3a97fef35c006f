/** Requests without content, in every framing of RFC 9112 section 6.3. */
import assert from 'node:assert/strict';
import { allRoutes, type CreatedKey } from '@keyreeve/contract';
import { bearer, newApp } from '../../../test-kit/new-app.ts';
import { newAdministrator } from '../../../test-kit/administrators.ts';
import { newPortalBackend } from '../../../test-kit/portal.ts';
import { ask, head } from '../../../test-kit/raw-http.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const types = [
  [],
  ['Content-Type: application/json'],
  ['Content-Type: application/json; charset=utf-8'],
  ['Content-Type: application/x-www-form-urlencoded'],
  ['Content-Type: text/plain'],
] as const;
const framings: readonly (readonly [lines: readonly string[], content: string])[] = [
  [[], ''],
  [['Content-Length: 0'], ''],
  [['Transfer-Encoding: chunked'], '0\r\n\r\n'],
  [['Transfer-Encoding: chunked'], '0\r\nX-Trailer: a\r\n\r\n'],
];

test('an optional body that is empty is absent, in every framing and with every type', async () => {
  await using app = await newApp();
  const { account, accessToken } = await newAdministrator(app);
  const { json } = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'a' } });
  const { id } = json as CreatedKey;
  const ofPortal = await (await newPortalBackend(app)).open();
  const optional = allRoutes.filter(({ body }) => body?.isOptional === true && body.type === 'json');
  assert.ok(optional.length >= 3);
  for (const { method, path, auth } of optional) {
    const { authorization } = auth === 'portal_session' ? ofPortal.headers : bearer(accessToken);
    const target = path.replace('/accounts/:id', `/accounts/${account.id}`).replace('/api-keys/:id', `/api-keys/${id}`);
    if (target.includes(':')) continue;
    const send = (lines: readonly string[], content: string) =>
      ask(
        app.url,
        head(`${method} ${target} HTTP/1.1`, 'Host: a', `Authorization: ${authorization}`, ...lines) + content,
      );
    for (const type of types) {
      for (const [lines, content] of framings) {
        const what = `${target} ${type.join()} ${lines.join()}`;
        const { status, body } = await send([...type, ...lines], content);
        assert.ok(status !== 415 && !/"code":"(?:malformed_json|invalid_request)"/.test(body), `${what} ${body}`);
      }
    }
    const text = await send(['Content-Type: text/plain', 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n');
    assert.equal(text.status, 415, `content needs its type: ${target}`);
    const broken = await send(['Content-Type: application/json', 'Transfer-Encoding: chunked'], '1\r\n{\r\n0\r\n\r\n');
    assert.equal(broken.status, 400, `content must be JSON: ${target}`);
  }
});
