/** The manifests in `docs/forward-auth/kubernetes/` have only known fields. kubernetes.extended.test.ts runs them in Envoy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from '../docs/shell-blocks.ts';
import { manifestsOf } from './kubernetes-envoy.ts';
import { fieldsOf, knownFields } from './kubernetes-fields.ts';

for (const file of ['gateway-api', 'envoy-gateway', 'istio']) {
  test(`${file}.yaml has only fields of the API`, () => {
    for (const manifest of manifestsOf(readPage(`docs/forward-auth/kubernetes/${file}.yaml`))) {
      const known = knownFields[`${manifest.apiVersion} ${manifest.kind}`];
      assert.ok(known, `${manifest.apiVersion} ${manifest.kind}`);
      const present = fieldsOf(manifest);
      assert.deepEqual(
        [...present].filter((field) => !known.includes(field)),
        [],
        manifest.kind,
      );
      assert.match(manifest.metadata.name, /^[a-z]([-a-z0-9]*[a-z0-9])?$/);
    }
  });
}
