/** Runs checks of one proxy, between a backend and a tap in front of Keyreeve. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { echo, send } from './proxy-client.ts';
import { findProgram, startBackend, startProxy, startTap, type ForwardAuthServer, type Running } from './proxy-kit.ts';
import type { TestedProxy } from './proxy-programs.ts';
import type { ProxySetup } from './proxy-setup.ts';

export type Checks = Readonly<Record<string, (setup: ProxySetup) => Promise<void>>>;

/**
 * Each check is a subtest. A proxy that is not installed is named as skipped, and fails under CI.
 * @param proxy.edit changes the text of its file
 */
export async function runChecks(
  t: TestContext,
  { edit, ...proxy }: TestedProxy & { readonly edit?: (text: string) => string },
  keyreeve: ForwardAuthServer,
  checks: Checks,
): Promise<void> {
  const program = findProgram(proxy.program);
  if (program === undefined) {
    assert.notEqual(process.env['CI'], 'true', `${proxy.name} is not installed, but CI requires it`);
    t.diagnostic(`skipped: ${proxy.name} is not installed`);
    t.skip(`${proxy.name} is not installed`);
    return;
  }
  const backend = await startBackend();
  const tap = await startTap(keyreeve.port);
  let running: Running | undefined;
  try {
    running = await startProxy(proxy, program, { keyreeve: tap.port, backend: backend.port }, edit);
    const { port } = running;
    const setup: ProxySetup = {
      proxy,
      keyreeve,
      tap,
      backend,
      url: `http://127.0.0.1:${port}`,
      send: (request) => send(port, request),
      echo: (path, headers, text) => echo(port, path, headers, text),
    };
    for (const [name, check] of Object.entries(checks)) {
      await t.test(name, async () => {
        // A failed check must not fail the next one.
        backend.takeRequests();
        tap.takeRecorded();
        await check(setup);
      });
    }
  } finally {
    await running?.stop();
    await tap.stop();
    await backend.stop();
  }
}
