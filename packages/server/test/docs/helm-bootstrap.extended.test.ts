/** The Helm chart mounts the file that a start applies, and replaces the pods when it changes. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { readApplyFile } from '../../src/modules/apply/file.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { assertAccepted } from './helm-accepted.ts';
import { manifestsOf, podOf, render, required, skip, type Values } from './helm-chart.ts';

const mounted = (values: Values) => {
  const { containers, volumes = [] } = podOf(manifestsOf(values));
  const { env = [], volumeMounts = [] } = containers[0]!;
  return {
    setting: env.find(({ name }) => name === 'KEYREEVE_BOOTSTRAP')?.value,
    mount: volumeMounts.find(({ mountPath }) => mountPath === '/etc/keyreeve'),
    volume: volumes.find(({ name }) => name === 'bootstrap'),
  };
};
const withContent = (generation: number): Values => ({
  ...required,
  bootstrap: {
    content: { generation, serviceAccounts: [{ name: 'gateway', limits: { quota: { limit: 1e12, per: 'ever' } } }] },
  },
});

suite('the file to apply in the Helm chart', { skip }, () => {
  test('the values become a file that the service accepts, with a name of its content', () => {
    const values = withContent(12_345_678);
    assertAccepted(values);
    const [map] = manifestsOf(values).filter(({ kind }) => kind === 'ConfigMap') as unknown as [
      { metadata: { name: string }; data: Record<string, string> },
    ];
    const { name } = map.metadata;
    assert.match(name, /^release-keyreeve-[0-9a-f]{8}$/);
    assert.deepEqual(mounted(values), {
      setting: '/etc/keyreeve/keyreeve.json',
      mount: { name: 'bootstrap', mountPath: '/etc/keyreeve', readOnly: true },
      volume: { name: 'bootstrap', configMap: { name, defaultMode: 0o440 } },
    });
    assert.notDeepEqual(mounted(withContent(2)).volume, mounted(values).volume);
    using folder = newTempFolder();
    const path = join(folder.path, 'keyreeve.json');
    writeFileSync(path, map.data['keyreeve.json']!, { mode: 0o600 });
    const { generation, entries } = readApplyFile(path, false);
    assert.deepEqual([generation, entries.map((entry) => entry.name)], [12_345_678, ['gateway']]);
  });

  test('a Secret has the file and the secrets of its webhooks', () => {
    const { volume } = mounted({ ...required, bootstrap: { existingSecret: 'set-up' } });
    assert.deepEqual(volume, { name: 'bootstrap', secret: { secretName: 'set-up', defaultMode: 0o440 } });
    assert.deepEqual(mounted(required), { setting: undefined, mount: undefined, volume: undefined });
  });

  test('a file without a generation is rejected', () => {
    const { status, stderr } = render({ ...required, bootstrap: { content: { scopes: [] } } });
    assert.equal(status, 1);
    assert.match(stderr, /generation/);
  });
});
