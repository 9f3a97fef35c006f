/** The Helm chart with every value renders what Kubernetes and the service accept. `helm.extended.test.ts` has the other values. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite, test } from 'node:test';
import { assertAccepted } from './helm-accepted.ts';
import { assertConfigured, chart, everything, required, skip } from './helm-chart.ts';

suite('the Helm chart', { skip }, () => {
  test('renders manifests that Kubernetes accepts, with restricted pods: every value', () =>
    assertAccepted(everything));

  test('sets what the service accepts, and no secret: every value', () => assertConfigured(everything));

  test('passes the checks of helm', () => {
    const linted = spawnSync('helm', ['lint', '--strict', chart, '--values', '-'], {
      encoding: 'utf8',
      input: JSON.stringify(required),
    });
    assert.equal(linted.status, 0, linted.stdout + linted.stderr);
  });
});
