/**
 * The manifests in `docs/forward-auth/kubernetes/`. No cluster runs them: the real Envoy runs the configuration that a controller
 * derives from them, with the same checks as the configurations of proxies.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { startKeyreeve } from './forward-auth-server.ts';
import { envoyOfEnvoyGateway, envoyOfGatewayApi, envoyOfIstio } from './kubernetes-envoy.ts';
import { guaranteesOfAddresses } from './proxy-addresses.ts';
import { guaranteesForBrowsers } from './proxy-browser.ts';
import { claims, guarantees, guaranteesOfRejections } from './proxy-guarantees.ts';
import type { ForwardAuthServer } from './proxy-kit.ts';
import { guaranteesOfLimits } from './proxy-limits.ts';
import { guaranteesOfPaths } from './proxy-paths.ts';
import { proxies, type TestedProxy } from './proxy-programs.ts';
import { runChecks, type Checks } from './proxy-run.ts';
import { assertForwarded, bearer, identity, identityOfKey } from './proxy-setup.ts';
import { guaranteesOfStreams } from './proxy-streams.ts';
import { startedOnce } from './shared-keyreeve.ts';

const complete: Checks = {
  ...guarantees,
  ...guaranteesOfRejections,
  ...guaranteesForBrowsers,
  ...guaranteesOfPaths,
  ...guaranteesOfAddresses,
  ...guaranteesOfLimits,
  ...guaranteesOfStreams,
};

/** What the first lines of `gateway-api.yaml` and docs/forward-auth.md exclude. */
const excludedFromGatewayApi: readonly string[] = [
  'identity headers of the client never reach the backend',
  'a 200 without identity headers never forwards those of the client',
  'the credential never reaches the backend',
  'a WebSocket opens with a credential and carries bytes both ways; without one it is rejected',
  'a listed origin may read a rejection by a limit and its fields',
];

const ofGatewayApi: Checks = {
  ...Object.fromEntries(
    Object.entries({
      ...guarantees,
      ...guaranteesOfRejections,
      ...guaranteesOfAddresses,
      ...guaranteesOfLimits,
      ...guaranteesOfStreams,
    }).filter(([name]) => !excludedFromGatewayApi.includes(name)),
  ),
  'identity headers of the client in their own names are replaced': async (setup) => {
    for (const [how, headers] of Object.entries(claims)) {
      const exactly = headers.filter(([name]) => !name.includes('_') && !/environment/i.test(name));
      const reached = await assertForwarded(setup, { headers: [bearer(setup.keyreeve.key.key), ...exactly] });
      assert.deepEqual(identity(reached), identityOfKey(setup.keyreeve, setup.keyreeve.key, ''), how);
    }
  },
};

const envoy = proxies.find(({ name }) => name === 'Envoy') as TestedProxy;

interface Case {
  readonly file: string;
  readonly checks: Checks;
  readonly toEnvoy: (text: string) => string;
  readonly statuses?: Partial<TestedProxy>;
}

/** Envoy's status without `status_on_error`. */
const forbidden = { whenUnreachable: 403, whenUnavailable: 403, whenSilent: 403 };
const cases: readonly Case[] = [
  { file: 'gateway-api', checks: ofGatewayApi, toEnvoy: envoyOfGatewayApi, statuses: forbidden },
  { file: 'envoy-gateway', checks: complete, toEnvoy: envoyOfEnvoyGateway },
  { file: 'istio', checks: complete, toEnvoy: envoyOfIstio },
];

const start = startedOnce(() => startKeyreeve());
let keyreeve: ForwardAuthServer;
beforeEach(async () => {
  keyreeve = await start();
});

void describe('the manifests in docs/forward-auth/kubernetes', { concurrency: true }, () => {
  for (const { file, checks, toEnvoy, statuses } of cases) {
    void test(`${file}.yaml as a configuration of Envoy`, async (t) => {
      const proxy: TestedProxy = {
        ...envoy,
        name: `Envoy with ${file}.yaml`,
        files: [`kubernetes/${file}.yaml`],
        args: (directory, port) => envoy.args(directory, port).map((arg) => arg.replace('envoy.yaml', `${file}.yaml`)),
        ...statuses,
      };
      await runChecks(t, { ...proxy, edit: toEnvoy }, keyreeve, checks);
    });
  }
});
