/** The package in an edge runtime: Vercel's, which has the Web APIs and nothing of Node. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { EdgeVM } from '@edge-runtime/vm';
import { build } from 'esbuild';
import { startRealService } from '../../conformance/real-service.ts';
import { test } from '../../server/test-kit/app-on-each-database.ts';

/** What an application at the edge has: one guard of each framework without Node, in front of a handler. */
const application = `import { Keyreeve } from '@keyreeve/client';
import { guard as forHono } from '@keyreeve/client/hono';
import { guard as forNext } from '@keyreeve/client/next';
import { Hono } from 'hono';

globalThis.start = (options) => {
  const keyreeve = new Keyreeve(options);
  const app = new Hono();
  app.get('/orders', forHono(keyreeve, { scopes: ['orders:read'] }), (c) => c.json(c.get('keyreeve').accountId));
  const next = forNext(keyreeve, { scopes: ['orders:read'] }, (_, { keyreeve: caller }) => Response.json(caller.accountId));
  const handlers = { hono: (request) => app.fetch(request), next: (request) => next(request, {}) };
  return async (framework, headers) => {
    const response = await handlers[framework](new Request('https://app.example.com/orders', { headers }));
    return JSON.stringify([response.status, await response.text()]);
  };
};
`;

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: application, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    write: false,
    format: 'iife',
    // A module of Node would be an error of the build.
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['edge-light', 'import'],
  });
  return outputFiles[0]?.text ?? '';
}

test('the guards work in an edge runtime, and fail closed', async () => {
  await using service = await startRealService();
  const script = await bundle();
  const start = (options: object) => {
    const vm = new EdgeVM();
    vm.evaluate(script);
    assert.equal(
      vm.evaluate('[typeof process, typeof require, typeof Buffer].join()'),
      'undefined,undefined,undefined',
    );
    vm.evaluate(`call = start(${JSON.stringify(options)})`);
    return async (framework: string, headers: object): Promise<[number, string]> =>
      JSON.parse(await vm.evaluate<Promise<string>>(`call('${framework}', ${JSON.stringify(headers)})`)) as [
        number,
        string,
      ];
  };
  const { url, serviceKey, credentials } = service;
  const callOnce = start({ url, serviceKey });
  // 503 if Keyreeve has not answered within the deadline of the library.
  const call: typeof callOnce = async (framework, headers) => {
    let response = await callOnce(framework, headers);
    while (response[0] === 503) response = await callOnce(framework, headers);
    return response;
  };
  const unreachable = start({ url: 'http://127.0.0.1:1', serviceKey });
  const valid = { authorization: `Bearer ${credentials['valid']}` };
  for (const framework of ['hono', 'next']) {
    const [status, body] = await call(framework, valid);
    assert.equal(status, 200, body);
    assert.match(body, /^"acc_\w+"$/);
    for (const [headers, code] of [
      [{}, 'missing_credential'],
      [{ 'x-api-key': credentials['deleted'] ?? '' }, 'invalid_credential'],
      [{ ...valid, 'x-api-key': credentials['valid'] ?? '' }, 'ambiguous_credentials'],
    ] as const) {
      const refused = await call(framework, headers);
      assert.deepEqual([refused[0], (JSON.parse(refused[1]) as { code: string }).code], [401, code]);
    }
    const [outage] = await unreachable(framework, valid);
    assert.equal(outage, 503);
  }
});
