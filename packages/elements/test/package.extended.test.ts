/** The published form of the package, and its types with those of React 19, Vue and Svelte. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { buildElementsPackage } from '../../../scripts/package-elements.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { frameworks, hasFrameworks, root } from './kit/frameworks.ts';

const run = promisify(execFile);

test('the package has the script, types and no dependencies', () => {
  using folder = newTempFolder();
  const built = buildElementsPackage(root, join(folder.path, 'package'));
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' }).toSorted();
  const types = ['element', 'react', 'svelte', 'vue'].map((name) => `dist/${name}.d.ts`);
  assert.deepEqual(files, ['LICENSE', 'README.md', 'dist', 'dist/keys.js', 'package.json', ...types].toSorted());
  const manifest = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as Record<string, unknown>;
  assert.deepEqual(
    [manifest['dependencies'], manifest['devDependencies'], manifest['sideEffects'], manifest['exports']],
    [
      undefined,
      undefined,
      ['./dist/keys.js'],
      {
        '.': { types: './dist/element.d.ts', default: './dist/keys.js' },
        './react': { types: './dist/react.d.ts' },
        './vue': { types: './dist/vue.d.ts' },
        './svelte': { types: './dist/svelte.d.ts' },
      },
    ],
  );
});

const dom = `import '@keyreeve/elements';
const keys = document.createElement('keyreeve-keys');
keys.addEventListener('created', ({ detail }) => detail.keyId.toFixed());
keys.addEventListener('ended', (event) => event.preventDefault());
// @ts-expect-error -- the event has no key
keys.addEventListener('ended', (event) => event.detail.keyId);
`;

const react = `import type {} from '@keyreeve/elements/react';
export const page = (
  <keyreeve-keys src="/api-keys/frame" theme="dark" radius={8} className="keys" oncreated={({ detail }) => detail.keyId.toFixed()} />
);
// @ts-expect-error -- not a theme
export const wrong = <keyreeve-keys src="/api-keys/frame" theme="blue" />;
// @ts-expect-error -- not an attribute
export const unknown = <keyreeve-keys source="/api-keys/frame" />;
`;

const vue = `import type { GlobalComponents } from 'vue';
import type {} from '@keyreeve/elements/vue';
type Props = InstanceType<GlobalComponents['keyreeve-keys']>['$props'];
export const props: Props = { src: '/api-keys/frame', density: 'compact', class: 'keys', onCreated: ({ detail }) => detail.keyId.toFixed() };
// @ts-expect-error -- not a density
export const wrong: Props = { src: '/api-keys/frame', density: 'wide' };
`;

const svelte = `import type { SvelteHTMLElements } from 'svelte/elements';
import type {} from '@keyreeve/elements/svelte';
type Props = SvelteHTMLElements['keyreeve-keys'];
export const props: Props = { src: '/api-keys/frame', accent: '#0a7', class: 'keys', oncreated: ({ detail }) => detail.keyId.toFixed() };
// @ts-expect-error -- not a colour as a text
export const wrong: Props = { accent: 7 };
`;

test('the types compile with those of React 19, Vue and Svelte, and reject other attributes', async (t) => {
  if (!hasFrameworks(t)) return;
  using folder = newTempFolder();
  const modules = join(folder.path, 'node_modules');
  mkdirSync(join(modules, '@keyreeve'), { recursive: true });
  for (const name of readdirSync(frameworks).filter((each) => !each.startsWith('.')))
    symlinkSync(join(frameworks, name), join(modules, name));
  buildElementsPackage(root, join(modules, '@keyreeve/elements'));
  const files = { 'dom.ts': dom, 'react.tsx': react, 'vue.ts': vue, 'svelte.ts': svelte };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  const language = ['--target', 'es2024', '--lib', 'es2024,dom,dom.iterable', '--jsx', 'react-jsx', '--types', ''];
  const modes = ['--module', 'preserve', '--moduleResolution', 'bundler', '--strict', '--exactOptionalPropertyTypes'];
  for (const name of Object.keys(files)) {
    const args = [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '--ignoreConfig', ...language, ...modes];
    // The declarations of the package are checked, and those of the frameworks too.
    const { stdout } = await run(process.execPath, [...args, name], { cwd: folder.path }).catch(
      (error: { stdout: string }) => error,
    );
    assert.equal(stdout, '', name);
  }
});
