/**
 * The alert rules, the dashboard and the docs name the metrics that the program has, and promtool accepts them.
 * observability.extended.test.ts runs the unit tests of the rules.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freeMibMin } from '../../src/app/installation/disk-check.ts';
import { jobLateMs } from '../../src/modules/outbox/outbox.ts';
import { signingKeyAgeDaysMax } from '../../src/modules/signing-keys/signing-keys.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { root } from '../docs/tree.ts';
import { alerts, dashboardExpressions, folder, panels, promtool, unitTests } from './alert-rules.ts';
import { newProgram, type Environment } from './program.ts';

const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');
const panelsMax = 15;

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
  const rows = section.split(/^#+ /m, 1).flatMap((text) => text.match(/^.* \| .*$/gm) ?? []);
  return rows.slice(2);
}

test('the table of metrics has exactly the metrics of the program; rules and dashboard use no others', async () => {
  await using postgres = await newPlace('postgres');
  const scraped = await Promise.all([
    metricsOf({ KEYREEVE_AUDIT_DAYS: '30', KEYREEVE_VERIFY_PORT: '0' }),
    metricsOf(postgres.environment),
  ]);
  const live = new Set(scraped.flat());
  assert.ok(live.size > 30, String(live.size));
  const documented = rowsUnder('## Metrics, and what to do').map((row) => /^`(\w+)/.exec(row)?.[1] ?? row);
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
    [...(/^<a id="(\w+)"><\/a>(\w+) \|/.exec(row) ?? [row, row])].slice(1),
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
    assert.ok(text.includes(` runbook_url: https://auth.example.com/docs/operating#${name.toLowerCase()}\n`), name);
  }
});

test('promtool accepts the rules, and each unit test is of one alert', (t) => {
  const { cases } = unitTests;
  assert.ok(cases.length > alerts.length);
  for (const text of cases) {
    const tested = [...text.matchAll(/ alertname: (\w+)\n/g)].map(([, name]) => name);
    assert.equal(new Set(tested).size, 1, text);
    assert.ok(
      alerts.some(({ name }) => name === tested[0]),
      text,
    );
  }
  const checked = promtool(t, 'check', 'rules', '--lint-fatal', join(folder, 'rules.yml'));
  if (checked) assert.equal(checked.status, 0, checked.output);
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
