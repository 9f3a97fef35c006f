/** The alert rules and the dashboard, and promtool, which checks them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { root } from '../docs/tree.ts';

export const folder = join(root, 'ops/prometheus');
const rules = readFileSync(join(folder, 'rules.yml'), 'utf8');

export interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}
export const { panels } = JSON.parse(readFileSync(join(root, 'ops/grafana/keyreeve.json'), 'utf8')) as {
  panels: readonly Panel[];
};

/** As Grafana sends them. */
export const dashboardExpressions = panels
  .flatMap(({ targets }) => targets.map(({ expr }) => expr))
  .map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'));

export interface Alert {
  readonly name: string;
  readonly expression: string;
  /** The lines of the rule. */
  readonly text: string;
}
export const alerts: readonly Alert[] = rules
  .split(/^(?= {6}- alert: )/m)
  .slice(1)
  .map((text) => ({
    name: /- alert: (\w+)/.exec(text)?.[1] ?? '',
    expression: (/expr: >-\n([^]*?)\n {8}for: /.exec(text)?.[1] ?? '').replaceAll(/\s+/g, ' ').trim(),
    text,
  }));

const [head = '', ...cases] = readFileSync(join(folder, 'rules.test.yml'), 'utf8').split(/^(?= {2}- name: )/m);
export const unitTests = { head, cases } as const;

/** Without promtool, the test is named as not tried, and fails in CI. */
export function promtool(
  t: TestContext,
  ...args: readonly string[]
): { status: number | null; output: string } | undefined {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' });
  if (error === undefined) return { status, output: stdout + stderr };
  assert.notEqual(process.env['CI'], 'true', 'promtool is not installed, but CI requires it');
  t.diagnostic('not tried: promtool is not installed');
  return undefined;
}
