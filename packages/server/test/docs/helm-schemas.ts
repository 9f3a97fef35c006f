/**
 * The schemas of custom resources, from the Go modules of their projects. Rules in CEL (`x-kubernetes-validations`) are not
 * evaluated.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compile } from 'typebox/schema';
import { parse } from 'yaml';
import type { Manifest } from './helm-chart.ts';
import { root } from './shell-blocks.ts';

interface PinnedModule {
  readonly module: string;
  readonly version: string;
  readonly sum: string;
}

const pinned: readonly PinnedModule[] = readFileSync(join(root, '.ci/schemas.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' '))
  .map(([module = '', version = '', sum = '']) => ({ module, version, sum }));

/** The folder of a module that was downloaded before. @returns undefined without it */
function folderOf({ module, version, sum }: PinnedModule): string | undefined {
  const env = { ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' };
  const { stdout, error } = spawnSync('go', ['mod', 'download', '-json', `${module}@${version}`], {
    encoding: 'utf8',
    env,
  });
  if (error) return undefined;
  const { Dir, Sum } = JSON.parse(stdout) as { readonly Dir?: string; readonly Sum?: string };
  if (Dir !== undefined) assert.equal(Sum, sum, `${module} is another one`);
  return Dir;
}

/** Module and kind → file in the module. */
const files: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'sigs.k8s.io/gateway-api': { HTTPRoute: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml' },
  'github.com/prometheus-operator/prometheus-operator': {
    PrometheusRule: 'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    ServiceMonitor: 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
  },
};
export const customKinds: readonly string[] = Object.values(files).flatMap((kinds) => Object.keys(kinds));

const modules = pinned.filter(({ module }) => module in files);
const missing = modules.filter((module) => folderOf(module) === undefined).map(({ module }) => module);
/** Under CI the tests run, and fail without the modules. */
export const skipWithoutSchemas =
  process.env['CI'] !== 'true' && missing.length > 0 && `not tried: ${missing.join(' and ')} not downloaded`;

interface Definition {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Json } }[];
  };
}
type Json = { readonly [name: string]: unknown };
type Check = (manifest: Manifest) => readonly string[];

/** Kind → checks of a manifest by each pinned version, which return what is wrong. */
export function customChecks(): ReadonlyMap<string, readonly Check[]> {
  const checks = modules.flatMap((module) => {
    const folder = folderOf(module);
    assert.ok(folder, `${module.module} is not downloaded`);
    return Object.entries(files[module.module]!).map(([kind, file]): [string, Check] => [
      kind,
      checkOf(readFileSync(join(folder, file), 'utf8'), module.version),
    ]);
  });
  const byKind = Map.groupBy(checks, ([kind]) => kind);
  return new Map([...byKind].map(([kind, each]) => [kind, each.map(([, check]) => check)]));
}

function checkOf(definition: string, moduleVersion: string): Check {
  const { versions } = (parse(definition) as Definition).spec;
  const compiled = new Map(
    versions.map(({ name, schema }) => {
      const { properties, ...rest } = strict(schema.openAPIV3Schema) as { readonly properties: Json };
      // The schema of Kubernetes itself has the metadata.
      return [name, Compile({ ...rest, properties: { ...properties, metadata: {} } })];
    }),
  );
  return (manifest) => {
    const [, version = ''] = manifest.apiVersion.split('/');
    const schema = compiled.get(version);
    if (!schema) return [`${moduleVersion} has no version ${version}`];
    const [, errors] = schema.Errors(manifest);
    return errors.map(({ instancePath, message }) => `${moduleVersion}: ${instancePath} ${message}`);
  };
}

/** Kubernetes removes unknown members without an error, so this rejects them. Patterns become those of JavaScript. */
function strict(schema: unknown): unknown {
  if (typeof schema === 'string') return schema.replace(/^\^\(\?i\)(.*)\$$/, '^(?i:$1)$');
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== 'object' || schema === null) return schema;
  const isOpen = 'additionalProperties' in schema || 'x-kubernetes-preserve-unknown-fields' in schema;
  const members = Object.entries(schema).map(([name, value]: [string, unknown]) =>
    name === 'properties' ? [name, mapped(value as Json)] : [name, strict(value)],
  );
  return {
    ...(Object.fromEntries(members) as Json),
    ...('properties' in schema && !isOpen ? { additionalProperties: false } : {}),
  };
}

const mapped = (properties: Json): Json =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, strict(value)]));
