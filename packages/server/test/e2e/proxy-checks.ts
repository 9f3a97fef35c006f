/** All checks of a proxy with its configuration in `docs/forward-auth/`. */
import { describe, test } from 'node:test';
import { guaranteesOfAddresses } from './proxy-addresses.ts';
import { guaranteesForBrowsers } from './proxy-browser.ts';
import { guarantees, guaranteesOfFixedUrl, guaranteesOfRejections } from './proxy-guarantees.ts';
import type { ForwardAuthServer } from './proxy-kit.ts';
import { guaranteesOfLimits } from './proxy-limits.ts';
import { guaranteesOfPaths, guaranteesOfRulesByPath } from './proxy-paths.ts';
import type { TestedProxy } from './proxy-programs.ts';
import { runChecks, type Checks } from './proxy-run.ts';
import { guaranteesOfStreams } from './proxy-streams.ts';

/** Those of every configuration. */
export const completeChecks: Checks = {
  ...guarantees,
  ...guaranteesOfRejections,
  ...guaranteesForBrowsers,
  ...guaranteesOfPaths,
  ...guaranteesOfAddresses,
  ...guaranteesOfLimits,
  ...guaranteesOfStreams,
};

/** Concurrently, because most of the time is the timeout of a proxy for Keyreeve, 30 s with Traefik. */
export function checkConfigurations(proxies: readonly TestedProxy[], keyreeve: () => Promise<ForwardAuthServer>): void {
  void describe('the configurations in docs/forward-auth', { concurrency: true }, () => {
    for (const proxy of proxies) {
      void test(`${proxy.name} with our configuration`, async (t) =>
        runChecks(t, proxy, await keyreeve(), {
          ...completeChecks,
          ...(proxy.hasRuleByPath ? { ...guaranteesOfFixedUrl, ...guaranteesOfRulesByPath } : {}),
        }));
    }
  });
}
