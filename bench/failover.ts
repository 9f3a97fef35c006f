/**
 * The cost of the proofs that a PostgreSQL server is the newest primary: `KEYREEVE_DATABASE_FAILOVER=unfenced` compared with
 * `fenced`, on one database with a synchronous standby, in a cluster that Patroni manages. The
 * processes of the cluster count as foreign load, so it needs `--accept-noise`, and many rounds.
 */
import { PatroniCluster } from '../packages/server/test-kit/patroni/patroni-cluster.ts';
import type { Bench } from './bench.ts';
import { seedAt } from './databases.ts';
import { forwardRequest } from './keyreeve.ts';
import { oneCore } from './machine.ts';
import { measure, Programs } from './processes.ts';
import type { Report } from './report.ts';

const connections = 64;
/** The disks of the cluster are small. */
const keysMax = 100_000;
const modes = ['fenced', 'unfenced'] as const;

export async function failover(bench: Bench, report: Report): Promise<void> {
  await using patroni = await PatroniCluster.start();
  await using programs = new Programs();
  const { url } = await (await patroni.leader()).databases.createDatabase();
  const keys = Math.min(keysMax, bench.options.keys);
  const seeded = await seedAt({ databaseUrl: url, poolPath: bench.file('failover.keys'), keys });
  const load = { connections, seconds: bench.options.seconds, request: forwardRequest(seeded.keys) };
  const sides = [];
  for (const name of modes) {
    const options = { cores: oneCore, env: { KEYREEVE_DATABASE_FAILOVER: name } };
    const server = programs.add(await bench.keyreeve(seeded, options));
    sides.push({ name, run: () => measure(server, load, server.verifyPort) });
  }
  const found = await bench.compare(report, sides);
  report.ratio('rate of /auth/forward, unfenced / fenced', found, ['unfenced', 'fenced', 'perSecond'], {
    atLeast: 0.99,
  });
  report.ratio('processor time of /auth/forward, unfenced / fenced', found, ['unfenced', 'fenced', 'processorUs'], {
    atMost: 1.01,
  });
}
