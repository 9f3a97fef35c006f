/** Runs checks of one proxy, between a backend and a tap in front of Keyreeve. */
import type { TestContext } from 'node:test';
import { echo, send } from './proxy-client.ts';
import {
  installedProgram,
  startBackend,
  startProxy,
  startTap,
  type ForwardAuthServer,
  type Running,
} from './proxy-kit.ts';
import type { TestedProxy } from './proxy-programs.ts';
import type { ProxySetup } from './proxy-setup.ts';

export type Checks = Readonly<Record<string, (setup: ProxySetup) => Promise<void>>>;

/**
 * Each check is a subtest. Without the proxy, the test is skipped as by {@link installedProgram}.
 * @param proxy.edit changes the text of its file
 */
export async function runChecks(
  t: TestContext,
  { edit, ...proxy }: TestedProxy & { readonly edit?: (text: string) => string },
  keyreeve: ForwardAuthServer,
  checks: Checks,
): Promise<void> {
  const program = installedProgram(t, proxy.program);
  if (program === undefined) return;
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
