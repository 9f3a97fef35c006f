/** The Helm chart with every value renders what Kubernetes and the service accept. `helm.extended.test.ts` has the other values. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { assertAccepted } from './helm-accepted.ts';
import { settings } from '../../src/app/configuration/settings.ts';
import type { Setting } from '../../src/app/configuration/setting.ts';
import { assertConfigured, chart, everything, manifestsOf, render, required, skip, type Pod } from './helm-chart.ts';

suite('the Helm chart', { skip }, () => {
  test('renders manifests that Kubernetes accepts, with restricted pods: every value', () =>
    assertAccepted(everything));

  test('sets what the service accepts, and no secret: every value', () => assertConfigured(everything));

  test('rejects every secret among the settings, because the pod shows them', () => {
    const secrets = Object.values<Setting<unknown>>(settings).flatMap(({ name, isSecret }) => (isSecret ? [name] : []));
    assert.ok(secrets.length > 4);
    const { stderr } = render({ ...required, settings: Object.fromEntries(secrets.map((name) => [name, 'x'])) });
    for (const name of secrets) assert.match(stderr, new RegExp(`invalid propertyName '${name}'`));
  });

  test('gives the test a prefix that YAML would read as another type', () => {
    const prefixed = manifestsOf({ ...required, settings: { KEYREEVE_KEY_PREFIX: 'no' } });
    const { spec } = prefixed.find(({ kind }) => kind === 'Pod')!;
    assert.equal((spec as unknown as Pod).containers[0]?.args?.at(-1), 'no');
  });

  test('passes the checks of helm', () => {
    const linted = spawnSync('helm', ['lint', '--strict', chart, '--values', '-'], {
      encoding: 'utf8',
      input: JSON.stringify(required),
    });
    assert.equal(linted.status, 0, linted.stdout + linted.stderr);
  });
});
