/** docs/key-page.md: its tables are those of the contract and of the element, and its endpoint works as it stands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NewPortalSessionBody, portalCapabilities } from '@keyreeve/contract';
import Value from 'typebox/value';
import { lookChecks } from '../../../elements/src/messages.ts';
import { readPage } from './shell-blocks.ts';

const page = readPage('docs/key-page.md');

/** The names in the first cells of a table. @param head its first heading */
function namesBelow(head: string): string[] {
  const [, rows = ''] = new RegExp(`^${head} \\| .*\\n--- \\| ---\\n((?:.+\\n)+)`, 'm').exec(page) ?? [];
  return rows
    .split('\n')
    .flatMap((row) => [...(row.split(' | ')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
}

test('the page names every member and capability of a portal session', () => {
  assert.deepEqual(namesBelow('member'), Object.keys(NewPortalSessionBody.properties));
  assert.deepEqual(namesBelow('capability'), Object.keys(portalCapabilities));
});

test('the page names every attribute and event of the element', () => {
  assert.deepEqual(namesBelow('attribute'), ['src', ...Object.keys(lookChecks)]);
  assert.deepEqual(namesBelow('event'), ['created', 'rotated', 'changed', 'deleted', 'ended']);
});

interface Answer {
  status?: number;
  location?: string;
  headers: Record<string, string>;
}

/** Runs the endpoint with parts of Express that record what it does. */
async function answerOf(headers: Readonly<Record<string, string>>, bodies: unknown[]): Promise<Answer> {
  const [, code = ''] = /^```js\n([^]*?)^```$/m.exec(page) ?? [];
  const source = `export default (app, personOf, keyreeve) => {\n${code}}`;
  const { default: define } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    default: (...parts: unknown[]) => void;
  };
  const answer: Answer = { headers: {} };
  const response = {
    sendStatus: (status: number) => void (answer.status = status),
    set(name: string, value: string) {
      answer.headers[name] = value;
      return response;
    },
    redirect: (status: number, location: string) => void Object.assign(answer, { status, location }),
  };
  let handler: ((request: unknown, answered: unknown) => Promise<void>) | undefined;
  define(
    { get: (_: string, given: typeof handler) => void (handler = given) },
    () => ({ id: 'u_7', tenant: 'tenant_182' }),
    {
      createPortalSession: (body: unknown) => {
        bodies.push(body);
        return Promise.resolve({ url: 'https://auth.example.com/portal/por_1#token' });
      },
    },
  );
  await handler?.({ get: (name: string) => headers[name] }, response);
  return answer;
}

test('the endpoint of the page redirects frames of its own origin, and creates no session for other requests', async () => {
  const bodies: unknown[] = [];
  const frame = { 'Sec-Fetch-Dest': 'iframe', 'Sec-Fetch-Site': 'same-origin' };
  for (const other of [{}, { 'Sec-Fetch-Dest': 'empty' }, { 'Sec-Fetch-Site': 'cross-site' }] as const)
    assert.equal((await answerOf(Object.keys(other).length === 0 ? {} : { ...frame, ...other }, bodies)).status, 403);
  assert.deepEqual(bodies, []);
  assert.deepEqual(await answerOf(frame, bodies), {
    headers: { 'Cache-Control': 'no-store' },
    status: 302,
    location: 'https://auth.example.com/portal/por_1#token',
  });
  assert.equal(bodies.length, 1);
  assert.ok(Value.Check(NewPortalSessionBody, bodies[0]), JSON.stringify(bodies[0]));
});
