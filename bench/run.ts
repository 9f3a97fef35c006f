/**
 * `npm run bench`: measures every published figure together with its limit or its peers in the same run.
 *
 *     npm run bench -- [hot-path] [--keys 1000000] [--many 10000000] [--rounds 5] [--seconds 3] [--quick]
 *     npm run bench -- peers [--keys 100000] [--rounds 5] [--seconds 1.5] [--databases sqlite,postgres] [--quick]
 *     npm run bench -- postgres [--keys 1000000] [--rounds 5] [--seconds 2] [--quick]
 *     npm run bench -- delays [--keys 200000] [--rounds 3] [--seconds 10] [--quick]
 *     npm run bench -- before --commit REF [--keys 200000] [--rounds 15] [--seconds 2] [--databases sqlite,postgres] [--quick]
 *     npm run bench -- limits [--keys 10000] [--many 100000] [--rounds 15] [--seconds 1] [--databases sqlite,postgres] [--quick]
 *     npm run bench -- leaks [--keys 20000] [--rounds 5] [--seconds 3] [--quick]
 *     npm run bench -- audit-cut [--keys 20000] [--rounds 21] [--seconds 1] [--quick]
 *     npm run bench -- sdk|sdk-go [--keys 20000] [--rounds 7] [--seconds 3] [--quick]
 *     npm run bench -- tracing --commit REF [--keys 500] [--rounds 15] [--seconds 2] [--quick]
 *     npm run bench -- fairness [--seconds 10] [--databases sqlite,postgres] [--floods all] [--quick]
 *
 * `--quick` checks in a minute that a command works; its numbers mean nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { auditCut } from './audit-cut.ts';
import { before } from './before.ts';
import type { BenchOptions } from './databases.ts';
import { delays } from './delays.ts';
import { fairness } from './fairness.ts';
import { hotPath } from './hot-path.ts';
import { leakFloods } from './leak-floods.ts';
import { limits } from './limits.ts';
import { peers } from './peers.ts';
import { postgres } from './postgres.ts';
import { sdk, sdkOfGo } from './sdk.ts';
import { tracing } from './tracing.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    keys: { type: 'string' },
    many: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    databases: { type: 'string', default: 'sqlite,postgres' },
    floods: { type: 'string', default: '' },
    commit: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'keyreeve-bench-'));

const boundsOf = (keys: number, rounds: number, seconds: number): BenchOptions => {
  const defaults = values.quick ? { keys: 20_000, rounds: 1, seconds: 1 } : { keys, rounds, seconds };
  return {
    keys: Number(values.keys ?? defaults.keys),
    rounds: Number(values.rounds ?? defaults.rounds),
    seconds: Number(values.seconds ?? defaults.seconds),
    databases: values.databases.split(','),
    folder,
  };
};

const commitOption = (): string => {
  if (values.commit === undefined) throw new Error('name the commit to compare with: --commit REF');
  return values.commit;
};
const manyOption = (many: number, quick: number): number => Number(values.many ?? (values.quick ? quick : many));

const commands: Readonly<Record<string, () => Promise<string>>> = {
  'hot-path': () => {
    const verifications = values.quick ? 20_000 : 1_000_000;
    return hotPath({ ...boundsOf(1_000_000, 5, 3), many: manyOption(10_000_000, 40_000), verifications });
  },
  peers: () => peers(boundsOf(100_000, 5, 1.5)),
  before: () => before({ ...boundsOf(200_000, 15, 2), commit: commitOption() }),
  tracing: () => tracing({ ...boundsOf(500, 15, 2), commit: commitOption() }),
  delays: () => delays(boundsOf(200_000, 3, 10)),
  fairness: () => fairness({ ...boundsOf(0, 1, 10), connections: values.quick ? 200 : 1_200, floods: values.floods }),
  'audit-cut': () => auditCut(boundsOf(20_000, 21, 1)),
  leaks: () => leakFloods(boundsOf(20_000, 5, 3)),
  limits: () => limits({ ...boundsOf(10_000, 15, 1), once: manyOption(100_000, 5_000) }),
  sdk: () => sdk(boundsOf(20_000, 7, 3)),
  'sdk-go': () => sdkOfGo(boundsOf(20_000, 7, 3)),
  postgres: () => postgres(boundsOf(1_000_000, 5, 2)),
};

try {
  const [name = 'hot-path'] = positionals;
  const command = commands[name];
  if (!command) throw new Error(`unknown benchmark ${name}; choose one of ${Object.keys(commands).join(', ')}`);
  console.log(await command());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
