/** The lists of components in a release name what each file contains. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { billOfMaterials, type Bill } from '../../../../scripts/bill-of-materials.ts';
import { readDebianList } from '../../../../scripts/debian-packages.ts';
import { sha256 } from '../../../../scripts/oci-layout.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { version } from '../../src/app/version.ts';
import { root } from './shell-blocks.ts';

const purlsOf = ({ components }: Bill): readonly string[] =>
  components.map(({ purl = '' }) => purl.replace(/@[^@]*$/, ''));
const binaries = (bill: Bill): readonly string[] =>
  purlsOf(bill).flatMap((purl) => /^pkg:npm\/(?:%40node-rs\/argon2-|node-(?:bin-)?)(\w+-.*)$/.exec(purl)?.[1] ?? []);

/** @returns the bill of a file with this name, after what every bill must have */
function read(name: string): Bill {
  using folder = newTempFolder();
  const file = join(folder.path, name);
  writeFileSync(file, name);
  const bill = billOfMaterials(root, file);
  assert.deepEqual(billOfMaterials(root, file), bill);
  const { component } = bill.metadata;
  assert.deepEqual(component['hashes'], [{ alg: 'SHA-256', content: sha256(Buffer.from(name)) }]);
  const refs = [component, ...bill.components].map((each) => each['bom-ref']);
  assert.equal(new Set(refs).size, refs.length);
  const named = bill.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
  assert.deepEqual(
    named.filter((ref) => !refs.includes(ref)),
    [],
  );
  // Each is reached from the file, and states a licence.
  const reached = new Set([component['bom-ref']]);
  for (const ref of reached)
    for (const on of bill.dependencies.find((each) => each.ref === ref)?.dependsOn ?? []) reached.add(on);
  assert.deepEqual(
    bill.components.filter((each) => !reached.has(each['bom-ref']) || (each.licenses ?? []).length === 0),
    [],
  );
  return bill;
}

test('the program has its packages, those that its build contains, Node, and data under its own licence', () => {
  const bill = read(`keyreeve-${version}.tgz`);
  assert.deepEqual(
    [bill.metadata.component.purl, bill.metadata.component.licenses],
    [`pkg:npm/keyreeve@${version}`, [{ expression: 'Apache-2.0 AND CC-BY-SA-3.0' }]],
  );
  const purls = purlsOf(bill);
  for (const name of ['npm/pg', 'npm/typebox', 'npm/preact', 'npm/lean-qr', 'npm/minisearch', 'generic/node'])
    assert.ok(purls.includes(`pkg:${name}`), name);
  for (const name of ['typescript', 'oxfmt', 'esbuild', 'axe-core'])
    assert.ok(!purls.includes(`pkg:npm/${name}`), name);
  const data = bill.components.filter(({ type }) => type === 'data');
  assert.deepEqual(
    data.map(({ licenses }) => licenses),
    [[{ license: { id: 'CC-BY-SA-3.0' } }]],
  );
  assert.ok(binaries(bill).length > 10);
});

test('the program for a platform has the binaries of this platform only', () => {
  for (const [name, expected] of [
    [`keyreeve-${version}-linux-x64.run`, ['linux-x64', 'linux-x64-gnu']],
    [`keyreeve_${version}_arm64.deb`, ['linux-arm64', 'linux-arm64-gnu']],
    [`keyreeve-${version}-macos-arm64-not-run.tar.gz`, ['darwin-arm64', 'darwin-arm64']],
    [`keyreeve-${version}-windows-x64-not-run.tar.gz`, ['win-x64', 'win32-x64-msvc']],
  ] as const)
    assert.deepEqual(binaries(read(name)).toSorted(), expected, name);
});

test('the image has the pinned packages of Debian', () => {
  const bill = read(`keyreeve-image-${version}.tar`);
  const debian = bill.components.filter(({ purl }) => purl?.startsWith('pkg:deb/'));
  assert.deepEqual(
    debian.map(({ name, hashes }) => [name, hashes]),
    readDebianList(root).packages.map((each) => [each.name, [{ alg: 'SHA-256', content: each.sha256 }]]),
  );
  assert.deepEqual(binaries(bill).toSorted(), ['linux-arm64', 'linux-arm64-gnu', 'linux-x64', 'linux-x64-gnu']);
});

test('the libraries and the chart have their own names, and a file of another kind is an error', () => {
  const libraries = {
    [`keyreeve-client-${version}.tgz`]: `pkg:npm/%40keyreeve/client@${version}`,
    [`keyreeve-elements-${version}.tgz`]: `pkg:npm/%40keyreeve/elements@${version}`,
    [`keyreeve-otel-${version}.tgz`]: `pkg:npm/%40keyreeve/otel@${version}`,
    'keyreeve-1.0.0rc1-py3-none-any.whl': 'pkg:pypi/keyreeve@',
    'keyreeve-1.0.0rc1.tar.gz': 'pkg:pypi/keyreeve@',
    [`keyreeve-go-v${version}.tar.gz`]: 'pkg:golang/keyreeve@v',
    [`keyreeve-chart-${version}.tgz`]: `pkg:generic/keyreeve-chart@${version}`,
    [`keyreeve-chart-${version}.oci.tar`]: `pkg:generic/keyreeve-chart@${version}`,
  };
  for (const [name, purl] of Object.entries(libraries)) {
    const bill = read(name);
    assert.ok(bill.metadata.component.purl?.startsWith(purl), name);
    assert.equal(bill.components.length > 0, name.includes('otel'), name);
  }
  assert.throws(() => read('keyreeve.exe'), /^Error: No list of components describes keyreeve\.exe: /);
});
