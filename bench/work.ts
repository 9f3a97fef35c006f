/** The p99 of verifications on SQLite while the server, or a command on its database, does other work again and again. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyAt } from './beside.ts';
import type { Bench } from './bench.ts';
import { environmentOf, programOf, repository } from './keyreeve.ts';
import { startLoad } from './load.ts';
import { execute, Programs, type Running } from './processes.ts';
import type { Report } from './report.ts';
import { blank, requestText } from './request.ts';
import { rounded, type Measured } from './rounds.ts';
import { emailAt, signedInAccounts, type Seeded } from './seeded.ts';
import { signIn } from './tokens.ts';

const verificationsPerSecond = 2_000;
const importedLines = 10_000;
const importingAccounts = 50;

/** Does the work once. @param turn counts all works of the run */
type Work = (turn: number) => Promise<unknown>;

export async function work(bench: Bench, report: Report): Promise<void> {
  const { seeded } = await bench.shared('sqlite');
  await using programs = new Programs();
  const server = programs.add(await bench.keyreeve(seeded));
  const verify = (): Promise<Measured> => verifyAt(server, seeded, verificationsPerSecond, bench.options.seconds);
  let turn = 0;
  const sides = Object.entries(await worksOf(bench, server, seeded)).map(([name, once]) => ({
    name,
    run: async () => {
      const over = new AbortController();
      const working = (async () => {
        while (!over.signal.aborted) await once(turn++);
      })();
      try {
        return await verify();
      } finally {
        over.abort();
        await working;
      }
    },
  }));
  const found = await bench.compare(report, [{ name: 'alone', run: verify }, ...sides]);
  for (const { name } of sides) {
    const what = `p99 of verifications at ${rounded(verificationsPerSecond)}/s beside ${name}, divided by the p99 alone`;
    report.ratio(what, found, [name, 'alone', 'msP99']);
  }
}

async function worksOf(bench: Bench, server: Running, seeded: Seeded): Promise<Readonly<Record<string, Work>>> {
  const command = (...args: readonly string[]): Promise<unknown> =>
    execute([process.execPath, programOf(repository), ...args], { env: environmentOf(seeded) });
  const importLines = (noun: string, turn: number, line: (index: number) => object): Promise<unknown> => {
    const path = bench.file(`import-${turn}`);
    const lines = Array.from({ length: importedLines }, (_, index) => `${JSON.stringify(line(index))}\n`);
    writeFileSync(path, lines.join(''));
    return command('import', noun, path);
  };
  const { accessTokens } = await signIn(server.port, bench.options.folder);
  const headers = { Authorization: `Bearer ${blank(accessTokens.recordBytes)}` };
  const text = requestText({ method: 'GET', path: '/auth/api-keys?view=full', headers });
  return {
    'a metrics scrape every second': async () => {
      await fetch(`${server.adminUrl}/metrics`).then((response) => response.text());
      await sleep(1_000);
    },
    'lists of keys on 8 connections': () =>
      startLoad({ port: server.port, connections: 8, seconds: 1, request: { text, pool: accessTokens } }).result,
    'keyreeve backup': (turn) => command('backup', '--to', bench.file(`backup-${turn}.gz`)),
    'keyreeve import accounts': (turn) =>
      importLines('accounts', turn, (line) => ({ email: `import-${turn}-${line}@example.com` })),
    'keyreeve import api-keys': (turn) =>
      importLines('api-keys', turn, (line) => ({
        account: emailAt(signedInAccounts + 1 + (line % importingAccounts)),
        nickname: `import ${turn} ${line}`,
        hash: createHash('sha256').update(`${turn} ${line}`).digest('hex'),
      })),
    'keyreeve audit verify': () => command('audit', 'verify'),
  };
}
