/** `keyreeve prove-revocation`: runs the revocation check on running instances. docs/proof.md describes it. */
import type { Command } from 'commander';
import { wereKeysImported } from '../foundation/database/installation.ts';
import { rules } from '../../revocation-check/history.ts';
import type { OutsideResult } from '../../revocation-check/outside-run.ts';
import type { LatencySummary } from '../../revocation-check/latencies.ts';
import type { Report } from '../../revocation-check/report.ts';
import type { RunResult } from '../../revocation-check/run.ts';
import { addCredentialCommand } from './canary-credential.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { parseCount } from './count.ts';
import { UsageError } from './failure.ts';
import { collect, print, table, version, type OutputOptions } from './output.ts';
import { describeOutside, ms, number, proveFromOutside, type OutsideOptions, type RunBounds } from './prove-outside.ts';
import { withInstallation } from './session.ts';

interface ProveOptions extends OutputOptions, OutsideOptions {
  readonly instances?: string;
  readonly seconds?: string;
  readonly deletions?: string;
  readonly concurrency?: string;
}

const secondsDefault = 10;
const secondsMax = 86_400;
const deletionsMax = 10_000_000;
/**
 * A higher number delays every response if the instances share processors with the command, and so detects fewer violations:
 * on two busy cores, a cache of 100 ms gave 2 to 5 violations in 20 deletions with 32, 14 to 38 with 16, 56 to 84 with 8.
 */
const concurrencyDefault = 16;
const concurrencyMax = 1_024;

const description = `Check on running instances that deletions and changes of keys apply immediately.

Creates accounts and keys, verifies the keys on every instance and endpoint while it deletes, changes and rotates keys and disables accounts, compares the results by their times, and removes its accounts and keys. Exits with status 1 after a violation, or if the run proves nothing.

Run it after each deployment: with --instances and the configuration of the installation, or with --url and a credential from any other machine, which covers deletions only. It loads the instances as much as one processor can.`;

const outsideSecondsWithDeletions = 600;

export function proveRevocationCommand(setStatus: SetStatus): Command {
  const command = new CliCommand('prove-revocation')
    .group('operate')
    .description(description)
    .option('--instances <urls>', 'base URLs of all instances, separated by commas')
    .option('--url <url>', 'base URL of an instance, from outside; repeatable', collect)
    .option('--credential-file <file>', 'with --url: file with the credential, - for standard input')
    .option('--allow-http', 'with --url: send the credential over plain HTTP')
    .option('--seed <n>', 'with --url: seed of the random choices (default: random)')
    .option(
      '--seconds <n>',
      `duration in seconds (default: ${secondsDefault}; with --deletions ${secondsMax}, and with --url ${outsideSecondsWithDeletions})`,
    )
    .option('--deletions <n>', 'stop after this number of deletions')
    .option('--concurrency <n>', `concurrent verifications (default: ${concurrencyDefault})`)
    .json()
    .examples(
      'keyreeve prove-revocation --instances http://10.0.0.1:8787,http://10.0.0.2:8787',
      'keyreeve prove-revocation --url https://a.example.com --credential-file canary-credential',
    )
    .references('docs/proof.md', 'database', 'masterKey')
    .action(async (options: ProveOptions) => {
      if (options.url) {
        const found = await runOutside(options);
        print(options, found, describeOutside(found));
        setStatus(found.isProven ? 0 : 1);
        return;
      }
      const result = await run(options);
      const checker = { version, node: process.version };
      if (options.json || result.report)
        print(options, { ...result, checker }, result.report ? describe(result, result.report) : '');
      else process.stderr.write(`keyreeve: not proven: ${result.reason}${leftBehind(result)}\n`);
      setStatus(result.isProven ? 0 : 1);
    });
  addCredentialCommand(command);
  return command;
}

async function runOutside(options: ProveOptions): Promise<OutsideResult> {
  if (options.instances !== undefined) throw new UsageError('--instances and --url exclude each other');
  const bounds = parseBounds(options, outsideSecondsWithDeletions);
  using interruption = stopOnSignal();
  return await proveFromOutside(options, { ...bounds, signal: interruption.signal });
}

/** @param secondsWithDeletions the duration with --deletions and without --seconds */
function parseBounds(options: ProveOptions, secondsWithDeletions: number): Omit<RunBounds, 'signal'> {
  const deletions = parseCount('--deletions', options.deletions, deletionsMax);
  const secondsLeft = deletions === undefined ? secondsDefault : secondsWithDeletions;
  const seconds = parseCount('--seconds', options.seconds, secondsMax) ?? secondsLeft;
  const concurrency = parseCount('--concurrency', options.concurrency, concurrencyMax) ?? concurrencyDefault;
  return { seconds, deletionsMax: deletions, concurrency };
}

async function run(options: ProveOptions): Promise<RunResult> {
  if (options.instances === undefined)
    throw new UsageError(
      'name the instances: --instances with the configuration of the installation, or --url with a credential (see --help)',
    );
  for (const [name, value] of Object.entries({
    '--credential-file': options.credentialFile,
    '--allow-http': options.allowHttp,
    '--seed': options.seed,
  }))
    if (value !== undefined) throw new UsageError(`${name} requires --url`);
  const instances = parseInstances(options.instances);
  const { seconds, concurrency, deletionsMax: deletions } = parseBounds(options, secondsMax);
  // Loaded here: a static import would delay the start of every command.
  const [{ canariesOf }, { runRevocationCheck }] = await Promise.all([
    import('./canaries.ts'),
    import('../../revocation-check/run.ts'),
  ]);
  using interruption = stopOnSignal();
  const { signal } = interruption;
  return await withInstallation({}, async (context) => {
    const canaries = canariesOf(context, await wereKeysImported(context.installation.db));
    const end = deletions === undefined ? {} : { deletionsMax: deletions };
    return runRevocationCheck({ instances, canaries, concurrency, seconds, signal, ...end });
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

/** After the first Ctrl-C, the run ends and the canaries are removed. The second ends the process. */
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

function describe(result: RunResult, report: Report): string {
  const { verifications, deletions, violations, examples } = report;
  const rows = [
    ['checker', `keyreeve ${version}, Node ${process.version}`],
    ['instances', result.instances.map(({ url, verdicts }) => `${url} (${number(verdicts)})`).join(' ')],
    ['seconds', String(result.seconds)],
    ['verifications', number(verifications.total)],
    ['  accepted', number(verifications.accepted)],
    ['  rejected', number(verifications.refused)],
    ['  without a result', number(verifications.unknown)],
    ['  started after the response to a revocation', number(verifications.afterRevocation)],
    ['deletions', number(deletions.acknowledged)],
    ['  of keys created over HTTP', number(deletions.created)],
    ['  of callers’ keys', number(deletions.caller)],
    ['  of imported keys', number(deletions.imported)],
    ['deletions without a result', number(deletions.unknown)],
    ['accounts disabled or enabled', number(report.accountChanges)],
    ['changes of keys', number(report.keyChanges.acknowledged)],
    ['  disabled', number(report.keyChanges.disabled)],
    ['  scope removed', number(report.keyChanges.scope)],
    ['  IP ranges changed', number(report.keyChanges.addresses)],
    ['  expiry shortened', number(report.keyChanges.expiry)],
    ['  rotated', number(report.keyChanges.rotated)],
    ['  previous secret ended', number(report.keyChanges.previousEnded)],
    ['  previous public key ended', number(report.keyChanges.publicKeyEnded)],
    ['  trust replaced or ended', number(report.keyChanges.trustEnded)],
    ['  issuer narrowed or removed', number(report.keyChanges.issuerNarrowed + report.keyChanges.issuerRemoved)],
    ['  secret leaked', number(report.keyChanges.leaked)],
    ['  entitlement removed', number(report.keyChanges.entitlement)],
    ['  scope marked or deleted', number(report.keyChanges.scopeMarked + report.keyChanges.scopeDeleted)],
    ['changes of keys without a result', number(report.keyChanges.unknown)],
    ['lists compared', number(report.lists)],
    ['violations', violations === 0 ? 'none' : number(violations)],
    ['longest time from a response to the start of an accepted verification', ms(report.acceptedAfterMsMax)],
    ['shortest time from a response to the start of a rejected verification', ms(report.refusedAfterMsMin)],
    ['shortest time from the start of an accepted verification to a response', ms(report.acceptedBeforeMsMin)],
    ['verification, p50 and p99', latencies(report.verifyLatency)],
    ['deletion, p50 and p99', latencies(report.deleteLatency)],
  ];
  const conclusion = result.isProven
    ? 'Proven: every verification that started after the response to a deletion or a change applied it.'
    : `Not proven: ${result.reason}.`;
  const reasons = examples.map(({ rule, explanation }) => `- ${rules[rule]}:\n  ${explanation}`);
  return [conclusion, ...reasons, '', table(['WHAT', 'RESULT'], rows)].join('\n') + leftBehind(result);
}

const leftBehind = ({ leftBehind: emails }: RunResult): string =>
  emails.length === 0 ? '' : `\nThese accounts could not be removed. Delete them: ${emails.join(' ')}`;

const latencies = ({ msP50, msP99 }: LatencySummary): string => `${ms(msP50)}, ${ms(msP99)}`;
