/** The alert rules, the dashboard and the docs name the metrics that the program has, and the rules work. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { freeMibMin } from '../../src/app/disk-check.ts';
import { jobLateMs } from '../../src/modules/outbox/outbox.ts';
import { signingKeyAgeDaysMax } from '../../src/modules/signing-keys/signing-keys.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { root } from '../docs/tree.ts';
import { newProgram, type Environment } from './program.ts';

const folder = join(root, 'ops/prometheus');
const rules = readFileSync(join(folder, 'rules.yml'), 'utf8');
const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');
const panelsMax = 14;

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}
const { panels } = JSON.parse(readFileSync(join(root, 'ops/grafana/keyreeve.json'), 'utf8')) as {
  panels: readonly Panel[];
};
/** As Grafana sends them. */
const dashboardExpressions = panels
  .flatMap(({ targets }) => targets.map(({ expr }) => expr))
  .map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'));

interface Alert {
  readonly name: string;
  readonly expression: string;
  /** The lines of the rule. */
  readonly text: string;
}
const alerts: readonly Alert[] = rules
  .split(/^(?= {6}- alert: )/m)
  .slice(1)
  .map((text) => ({
    name: /- alert: (\w+)/.exec(text)?.[1] ?? '',
    expression: (/expr: >-\n([^]*?)\n {8}for: /.exec(text)?.[1] ?? '').replaceAll(/\s+/g, ' ').trim(),
    text,
  }));

/** Without promtool, the test is named as not tried, and fails in CI. */
function promtool(t: TestContext, ...args: readonly string[]): { status: number | null; output: string } | undefined {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { encoding: 'utf8' });
  if (error === undefined) return { status, output: stdout + stderr };
  assert.notEqual(process.env['CI'], 'true', 'promtool is not installed, but CI requires it');
  t.diagnostic('not tried: promtool is not installed');
  return undefined;
}

/** The names of the metrics of a running program, without those of the library. */
async function metricsOf(environment: Environment): Promise<string[]> {
  await using program = await newProgram(environment);
  const { key } = await program.newKey();
  assert.equal((await program.call('GET', '/auth/forward', { authorization: `Bearer ${key}` })).status, 200);
  const text = await (await fetch(`${program.adminUrl}/metrics`)).text();
  return [...text.matchAll(/^# TYPE (keyreeve_\w+) /gm)].map(([, name = '']) => name);
}

/** Metrics in an expression, without the suffixes of the series of a histogram. */
const namesIn = (expression: string): string[] =>
  [...expression.matchAll(/\bkeyreeve_\w+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, ''));

/** The rows of the table under a heading, without its first two lines. */
function rowsUnder(heading: string): string[] {
  const [, section = ''] = page.split(`\n${heading}\n`);
  const rows = section.split(/^#+ /m, 1).flatMap((text) => text.match(/^\|.*\|$/gm) ?? []);
  return rows.slice(2);
}

test('the table of metrics has exactly the metrics of the program; rules and dashboard use no others', async () => {
  await using postgres = await newPlace('postgres');
  const scraped = await Promise.all([
    metricsOf({ KEYREEVE_AUDIT_DAYS: '30' }),
    metricsOf({ KEYREEVE_WORKERS: '2' }),
    metricsOf(postgres.environment),
  ]);
  const live = new Set(scraped.flat());
  assert.ok(live.size > 30, String(live.size));
  const documented = rowsUnder('## Metrics, and what to do').map((row) => /^\| `(\w+)/.exec(row)?.[1] ?? row);
  assert.deepEqual([...new Set(documented)].toSorted(), [...live].toSorted());
  const used = [...alerts.map(({ expression }) => expression), ...dashboardExpressions].flatMap(namesIn);
  assert.ok(used.length > 30);
  assert.deepEqual(
    used.filter((name) => !live.has(name)),
    [],
  );
});

test('the table of alerts has exactly the rules, and each rule links to its row', () => {
  assert.ok(alerts.length > 10);
  const rows = rowsUnder('### Alerts').map((row) =>
    [...(/^\| <a id="(\w+)"><\/a>(\w+) \|/.exec(row) ?? [row, row])].slice(1),
  );
  assert.deepEqual(
    rows,
    alerts.map(({ name }) => [name.toLowerCase(), name]),
  );
  for (const { name, expression, text } of alerts) {
    assert.notEqual(expression, '', name);
    assert.match(text, /^ {10}severity: (?:critical|warning|info)$/m, name);
    assert.match(text, /^ {10}summary: \S.*\.$/m, name);
    assert.match(text, /^ {10}description: '?\S/m, name);
    assert.ok(text.includes(` runbook_url: docs/operating.md#${name.toLowerCase()}\n`), name);
  }
});

test('promtool accepts the rules, and their unit tests pass', (t) => {
  const checked = promtool(t, 'check', 'rules', '--lint-fatal', join(folder, 'rules.yml'));
  if (!checked) return;
  assert.equal(checked.status, 0, checked.output);
  const tested = promtool(t, 'test', 'rules', join(folder, 'rules.test.yml'));
  assert.deepEqual(tested, { status: 0, output: tested?.output ?? '' });
});

/** Each alert alone, with only its unit tests, so that a run takes a fraction of a second. */
function runAlone(t: TestContext, name: string, rule: string): { status: number | null; output: string } | undefined {
  using temp = newTempFolder();
  const [head = '', ...cases] = readFileSync(join(folder, 'rules.test.yml'), 'utf8').split(/^(?= {2}- name: )/m);
  const own = cases.filter((text) => text.includes(`alertname: ${name}\n`));
  writeFileSync(join(temp.path, 'rules.test.yml'), head + own.join(''));
  const rulesHead = 'groups:\n  - name: keyreeve\n    rules:\n';
  writeFileSync(join(temp.path, 'rules.yml'), rule === '' ? 'groups: []\n' : rulesHead + rule);
  return promtool(t, 'test', 'rules', join(temp.path, 'rules.test.yml'));
}

/** The rule with another threshold, another time until it fires, or without its expression: what a careless edit does. */
function mutantsOf({ text }: Alert): Record<string, string> {
  const thresholds = [...text.matchAll(/(?<= (?:>|<|==) )[\d.]+/g)];
  const mutants = thresholds.flatMap(({ index, 0: threshold }) =>
    (Number(threshold) === 0 ? [-1, 3] : [Number(threshold) * 0.6, Number(threshold) * 1.7]).map((other) => [
      `threshold ${threshold} at ${index} as ${other}`,
      text.slice(0, index) + String(other) + text.slice(index + threshold.length),
    ]),
  );
  const later = text.replace(/^( {8}for: )\w+$/m, '$130d');
  // `for: 0m` means the same as no `for`.
  const atOnce = text.replace(/^ {8}for: (?!0m$)\w+\n/m, '');
  if (atOnce !== text) mutants.push(['without for', atOnce]);
  return Object.fromEntries([['deleted', ''], ['later', later], ...mutants]);
}

test('the unit tests of each alert fail without it, with another threshold, without `for`, and if it fires much later', (t) => {
  const undetected: string[] = [];
  for (const alert of alerts) {
    const { name, text } = alert;
    const unchanged = runAlone(t, name, text);
    if (!unchanged) return;
    assert.equal(unchanged.status, 0, unchanged.output);
    for (const [mutant, changed] of Object.entries(mutantsOf(alert)))
      if (runAlone(t, name, changed)?.status !== 1) undetected.push(`${name}: ${mutant}`);
  }
  assert.deepEqual(undetected, []);
});

test('alerts and the overview of administrators have the same thresholds', () => {
  const expressionOf = (name: string): string => alerts.find((alert) => alert.name === name)?.expression ?? '';
  assert.match(expressionOf('KeyreeveOutboxStuck'), new RegExp(`> ${jobLateMs / 1_000}$`));
  assert.match(expressionOf('KeyreeveSigningKeyOld'), new RegExp(`> ${signingKeyAgeDaysMax} \\* 86400$`));
  assert.match(expressionOf('KeyreeveDiskGrowth'), new RegExp(`< ${freeMibMin * 2 ** 20} or `));
});

test('promtool accepts every expression of the dashboard, which has few panels', (t) => {
  assert.ok(panels.length > 0 && panels.length <= panelsMax);
  assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
  using temp = newTempFolder();
  const path = join(temp.path, 'rules.yml');
  const asRules = (expressions: readonly string[]): string =>
    JSON.stringify({
      groups: [
        {
          name: 'dashboard',
          rules: expressions.map((expr, index) => ({ record: `dashboard:expression_${index}`, expr })),
        },
      ],
    });
  writeFileSync(path, asRules(dashboardExpressions));
  const checked = promtool(t, 'check', 'rules', path);
  if (!checked) return;
  assert.equal(checked.status, 0, checked.output);
  writeFileSync(path, asRules([...dashboardExpressions, 'sum(']));
  assert.equal(promtool(t, 'check', 'rules', path)?.status, 1);
});
