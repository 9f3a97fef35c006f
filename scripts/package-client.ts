/**
 * Builds the npm package `@keyreeve/client` from its sources: JavaScript with the lines of the sources, and declarations of its types.
 * Node refuses to strip types below `node_modules`. For CommonJS, each module has a file that loads the module itself, so that a process
 * has one copy of each class, and the same declarations.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { runPackageCommand } from './package-archive.ts';
import { repositoryUrl } from './package-repository.ts';
import { versionOf } from './version-places.ts';

type Target = string | { readonly [condition: string]: string };

interface Manifest {
  readonly exports: Readonly<Record<string, Target>>;
  readonly devDependencies?: unknown;
  readonly [member: string]: unknown;
}

/** @param folder that does not exist @returns the path of the package @throws Error if the compiler fails */
export function buildClientPackage(root: string, folder: string): string {
  mkdirSync(folder);
  const client = join(root, 'packages/client');
  const source = join(client, 'src');
  const target = join(folder, 'dist');
  mkdirSync(target);
  const files = readdirSync(source);
  for (const file of files) {
    const script = stripTypeScriptTypes(readFileSync(join(source, file), 'utf8'));
    writeFileSync(join(target, file.replace(/\.ts$/, '.js')), withScripts(script));
    const required = `module.exports = require('./${file.replace(/\.ts$/, '.js')}');\n`;
    writeFileSync(join(target, file.replace(/\.ts$/, '.cjs')), required);
  }
  writeDeclarations(
    root,
    files.map((file) => join(source, file)),
    target,
  );
  for (const file of readdirSync(target).filter((name) => name.endsWith('.d.ts'))) {
    const types = readFileSync(join(target, file), 'utf8');
    writeFileSync(join(target, file), withScripts(types));
    writeFileSync(join(target, file.replace(/\.ts$/, '.cts')), withScripts(types, 'cjs'));
  }
  const {
    devDependencies: _,
    name,
    ...manifest
  } = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8')) as Manifest;
  const url = repositoryUrl();
  const repository =
    url === undefined ? {} : { repository: { type: 'git', url: `git+${url}.git`, directory: 'packages/client' } };
  const packaged = {
    name,
    version: versionOf(root),
    ...manifest,
    ...repository,
    ...withoutExports(manifest.exports),
    exports: withTypes(manifest.exports),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packaged, null, 2)}\n`);
  cpSync(join(client, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  return folder;
}

const withScripts = (text: string, ending = 'js'): string =>
  text.replaceAll(/(?<=(?:from |import\()'\.\/[\w-]+)\.ts(?=')/g, `.${ending}`);

function writeDeclarations(root: string, files: readonly string[], target: string): void {
  const options = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--ignoreConfig', '--outDir', target];
  const language = ['--target', 'es2024', '--lib', 'es2024,esnext', '--module', 'nodenext', '--types', 'node'];
  const checks = ['--strict', '--skipLibCheck', '--rewriteRelativeImportExtensions', '--exactOptionalPropertyTypes'];
  const args = [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...language, ...checks, ...files];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`tsc: ${stdout}`);
}

const built = (path: string, ending: string): string => path.replace('./src/', './dist/').replace(/\.ts$/, ending);

/** Each export gets its types, which are the same under all conditions, for modules and for CommonJS. */
const withTypes = (exports: Manifest['exports']): object =>
  Object.fromEntries(
    Object.entries(exports).map(([name, target]) => {
      const conditions = typeof target === 'string' ? { default: target } : target;
      const ofKind = (types: string, script: string): object => ({
        types: built(conditions['default'] ?? '', types),
        ...Object.fromEntries(Object.entries(conditions).map(([condition, path]) => [condition, built(path, script)])),
      });
      return [name, { import: ofKind('.d.ts', '.js'), require: ofKind('.d.cts', '.cjs') }];
    }),
  );

/** For TypeScript with `moduleResolution: node10`, which reads no `exports`. */
function withoutExports(exports: Manifest['exports']): object {
  const files = Object.keys(exports).filter((name) => name !== '.');
  const types = files.map((name) => [name.slice('./'.length), [`./dist/${name.slice('./'.length)}.d.cts`]] as const);
  return { main: './dist/node.cjs', types: './dist/fetch.d.cts', typesVersions: { '*': Object.fromEntries(types) } };
}

if (import.meta.main) runPackageCommand(buildClientPackage);
