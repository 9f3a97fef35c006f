/** `keyreeve prove-revocation`: on a live installation, that deleted means dead. What it proves: docs/proof.md. */
import { Command } from 'commander';
import { wereKeysImported } from '../foundation/database/installation.ts';
import { rules } from '../../revocation-check/history.ts';
import type { LatencySummary } from '../../revocation-check/latencies.ts';
import type { Proof } from '../../revocation-check/prove.ts';
import type { Report } from '../../revocation-check/report.ts';
import { UsageError } from './failure.ts';
import { jsonHelp, print, table, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

interface ProveOptions extends OutputOptions {
  readonly instances: string;
  readonly seconds?: string;
  readonly deletions?: string;
  readonly concurrency?: string;
}

const secondsDefault = 10;
const secondsMax = 86_400;
const deletionsMax = 10_000_000;
/**
 * More makes every answer later where instances share processors with the command, and what is seen less sharp: on two
 * busy cores a cache of 100 ms gave 2 to 5 violations in 20 deletions with 32, 14 to 38 with 16, and 56 to 84 with 8.
 */
const concurrencyDefault = 16;
const concurrencyMax = 1_024;

const description = `Prove on the running instances that a deleted key is dead at once: make accounts and keys, verify the keys through every instance and endpoint while they are deleted and accounts disabled, compare all answers by their times, and remove what was made. Exits 1 on a single violation, and when nothing could be proven.

Run it after each deployment, where the installation’s configuration is (KEYREEVE_DATABASE_URL, the master key). It loads the instances as hard as one processor can.`;

export function proveRevocationCommand(exitWith: (status: number) => void): Command {
  return new Command('prove-revocation')
    .summary('Prove on the running instances that a deleted key is dead at once.')
    .description(description)
    .requiredOption('--instances <urls>', 'base addresses of all instances, separated by commas')
    .option('--seconds <n>', `how long; without --deletions ${secondsDefault}`)
    .option('--deletions <n>', 'end after so many deletions')
    .option('--concurrency <n>', `verifications under way at once; unless given ${concurrencyDefault}`)
    .option('--json', jsonHelp)
    .action(async (options: ProveOptions) => {
      const proof = await proveWith(options);
      if (options.json || proof.report) print(options, proof, proof.report ? describe(proof, proof.report) : '');
      else process.stderr.write(`keyreeve: not proven: ${proof.reason}${leftBehind(proof)}\n`);
      exitWith(proof.isProven ? 0 : 1);
    });
}

async function proveWith(options: ProveOptions): Promise<Proof> {
  const instances = parseInstances(options.instances);
  const deletions = parseCount('--deletions', options.deletions, deletionsMax);
  const secondsLeft = deletions === undefined ? secondsDefault : secondsMax;
  const seconds = parseCount('--seconds', options.seconds, secondsMax) ?? secondsLeft;
  const concurrency = parseCount('--concurrency', options.concurrency, concurrencyMax) ?? concurrencyDefault;
  // Only now: every command would start later by what these load.
  const [{ canariesOf }, { prove }] = await Promise.all([
    import('./canaries.ts'),
    import('../../revocation-check/prove.ts'),
  ]);
  using interruption = stopOnSignal();
  const { signal } = interruption;
  return await withInstallation({}, async (context) => {
    const canaries = canariesOf(context, await wereKeysImported(context.installation.db));
    const end = deletions === undefined ? {} : { deletionsMax: deletions };
    return prove({ instances, canaries, concurrency, seconds, signal, ...end });
  });
}

function parseInstances(text: string): string[] {
  const urls = text.split(',').map((part) => part.trim());
  for (const url of urls) {
    const parsed = URL.parse(url);
    const isBase = parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.search === '' && parsed.hash === '';
    if (!isBase)
      throw new UsageError(`--instances must be like http://10.0.0.1:8787,http://10.0.0.2:8787, not “${url}”`);
  }
  if (new Set(urls).size < urls.length) throw new UsageError('--instances names an instance twice');
  return urls;
}

function parseCount(option: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const count = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (!(count <= max)) throw new UsageError(`${option} must be a whole number from 1 to ${max}, not “${text}”`);
  return count;
}

/** The first Ctrl-C ends the run and removes the canaries; the second ends the program. */
function stopOnSignal(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const names = ['SIGINT', 'SIGTERM'] as const;
  const stop = (): void => {
    release();
    controller.abort();
  };
  const release = (): void => {
    for (const name of names) process.off(name, stop);
  };
  for (const name of names) process.on(name, stop);
  return { signal: controller.signal, [Symbol.dispose]: release };
}

function describe(proof: Proof, report: Report): string {
  const { verifications, deletions, violations, examples } = report;
  const rows = [
    ['instances', proof.instances.map(({ url, verdicts }) => `${url} (${number(verdicts)})`).join(' ')],
    ['seconds', String(proof.seconds)],
    ['verifications', number(verifications.total)],
    ['  accepted', number(verifications.accepted)],
    ['  refused', number(verifications.refused)],
    ['  without an answer', number(verifications.unknown)],
    ['  started after a revocation’s answer', number(verifications.afterRevocation)],
    ['deletions', number(deletions.acknowledged)],
    ['  of keys that were created over HTTP', number(deletions.created)],
    ['  of callers’ keys', number(deletions.caller)],
    ['  of imported keys', number(deletions.imported)],
    ['deletions without an answer', number(deletions.unknown)],
    ['accounts disabled or enabled', number(report.accountChanges)],
    ['lists compared', number(report.lists)],
    ['violations', violations === 0 ? 'none' : number(violations)],
    ['longest time from an answer to a later acceptance', ms(report.acceptedAfterMsMax)],
    ['shortest time from an answer to a later refusal', ms(report.refusedAfterMsMin)],
    ['shortest time from an acceptance’s start to an answer', ms(report.acceptedBeforeMsMin)],
    ['verification, p50 and p99', latencies(report.verifyLatency)],
    ['deletion, p50 and p99', latencies(report.deleteLatency)],
  ];
  const verdict = proof.isProven
    ? 'Proven: every verification that started after a deletion’s answer was refused.'
    : `Not proven: ${proof.reason}.`;
  const reasons = examples.map(({ rule, explanation }) => `- ${rules[rule]}:\n  ${explanation}`);
  return [verdict, ...reasons, '', table(['WHAT', 'RESULT'], rows)].join('\n') + leftBehind(proof);
}

const leftBehind = ({ leftBehind: emails }: Proof): string =>
  emails.length === 0 ? '' : `\nThese accounts could not be removed; delete them: ${emails.join(' ')}`;

const number = (value: number): string => value.toLocaleString('en');
const ms = (value: number | null): string => (value === null ? 'none' : `${value.toFixed(3)} ms`);
const latencies = ({ msP50, msP99 }: LatencySummary): string => `${ms(msP50)}, ${ms(msP99)}`;
