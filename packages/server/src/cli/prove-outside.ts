/** `keyreeve prove-revocation --url …`: the revocation check from outside, with a credential instead of the database. */
import { rules } from '../../revocation-check/history.ts';
import type { OutsideResult } from '../../revocation-check/outside-run.ts';
import { readCredential } from './canary-credential.ts';
import { parseCount } from './count.ts';
import { UsageError } from './failure.ts';
import { assertServiceUrl, withoutFinalSlashes } from './service-url.ts';
import { table, version } from './output.ts';

export interface OutsideOptions {
  readonly url?: readonly string[];
  readonly credentialFile?: string;
  readonly allowHttp?: true;
  readonly seed?: string;
}

export interface RunBounds {
  readonly seconds: number;
  readonly deletionsMax: number | undefined;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

const plainHttpRemedy = 'use https, or --allow-http on a network that you trust';
const seedMax = 2 ** 32 - 1;

/** @throws UsageError */
export async function proveFromOutside(options: OutsideOptions, bounds: RunBounds): Promise<OutsideResult> {
  const { url: urls = [], credentialFile, allowHttp = false, seed: seedText } = options;
  for (const url of urls) assertServiceUrl(url, allowHttp ? undefined : plainHttpRemedy);
  const plain = urls.map(withoutFinalSlashes);
  if (new Set(plain).size < plain.length) throw new UsageError('--url names an instance twice');
  const seed = parseCount('--seed', seedText, seedMax, 0);
  const credential = await readCredential(credentialFile);
  const { runOutside } = await import('../../revocation-check/outside-run.ts');
  const { deletionsMax, ...others } = bounds;
  return runOutside({
    ...others,
    urls: plain,
    credential: credential.reveal(),
    version,
    ...(deletionsMax === undefined ? {} : { deletionsMax }),
    ...(seed === undefined ? {} : { seed }),
  });
}

export function describeOutside(result: OutsideResult): string {
  const { report, reason, checker, credential, instances, leftBehind } = result;
  const conclusion =
    reason === null
      ? 'Proven: every verification of a canary key that started after the response to its deletion was rejected.'
      : `Not proven: ${reason}.`;
  const examples = (report?.examples ?? []).map(({ rule, explanation }) => `- ${rules[rule]}:\n  ${explanation}`);
  const about = [
    ['checker', `keyreeve ${checker.version}, Node ${checker.node}`],
    ...instances.flatMap(describeInstance),
    ['credential', credential ? `key ${credential.keyId}, expires ${credential.expiresAt}` : 'not accepted'],
    ['started', result.startedAt],
    ['ended', result.endedAt],
    ['seconds', String(result.seconds)],
    ['seed', String(result.seed)],
  ];
  const counts = report
    ? [
        ['verifications', number(report.verifications.total)],
        ['  accepted', number(report.verifications.accepted)],
        ['  rejected', number(report.verifications.refused)],
        ['  without a result', number(report.verifications.unknown)],
        ['  started after the response to a deletion', number(report.verifications.afterRevocation)],
        ['deletions', number(report.deletions.acknowledged)],
        ['deletions without a result', number(report.deletions.unknown)],
        ['lists compared', number(report.lists)],
        ['violations', report.violations === 0 ? 'none' : number(report.violations)],
        ['longest time from a response to the start of an accepted verification', ms(report.acceptedAfterMsMax)],
        ['shortest time from a response to the start of a rejected verification', ms(report.refusedAfterMsMin)],
      ]
    : [];
  const notes = [
    ...result.warnings.map((text) => `Warning: ${text}.`),
    ...(leftBehind.length === 0
      ? []
      : [`These canary keys could not be deleted. They expire by themselves: ${leftBehind.join(' ')}`]),
    'Not covered by this credential:',
    ...result.notCovered.map((text) => `- ${text}`),
  ];
  return [conclusion, ...examples, '', table(['WHAT', 'RESULT'], [...about, ...counts]), '', ...notes].join('\n');
}

function describeInstance(instance: OutsideResult['instances'][number]): string[][] {
  const { url, verdicts, processes, clockDifferenceMs, cachedResponses } = instance;
  const described = processes.map(
    ({ id, version: of, node, database }) => `keyreeve ${of}, Node ${node}, ${database}, ${id}`,
  );
  return [
    ['instance', `${url} (${number(verdicts)})`],
    ...(described.length === 0 ? ['version not known'] : described).map((text) => ['  process', text]),
    ...(clockDifferenceMs === null ? [] : [['  clock difference', `${clockDifferenceMs} ms`]]),
    ...(cachedResponses === 0 ? [] : [['  responses from a cache', number(cachedResponses)]]),
  ];
}

export const number = (value: number): string => value.toLocaleString('en');
export const ms = (value: number | null): string => (value === null ? 'none' : `${value.toFixed(3)} ms`);
