/** Limits of API keys and accounts as options, and as text. */
import { Option } from 'commander';
import { limits, type KeyLimits, type QuotaUse } from '@keyreeve/contract';
import type { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';

export interface LimitOptions {
  readonly rate?: string;
  readonly burst?: string;
  readonly quota?: string;
}

export interface LimitChangeOptions extends LimitOptions {
  readonly clearRate?: true;
  readonly clearQuota?: true;
}

const { keyRateMax: rateMax, keyRateWindowSecondsMax: windowSecondsMax, keyQuotaMax: quotaMax } = limits;
const secondsOf: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600, day: 86_400 };

export const withLimits = (command: CliCommand): CliCommand =>
  command
    .option(
      '--rate <limit>',
      'verifications per second, minute, hour or day, like 600/minute, or in a number of seconds, like 100/10s',
    )
    .option('--burst <count>', 'largest number of verifications at once, with --rate (default: the limit of --rate)')
    .option('--quota <limit>', 'verifications per UTC day, per UTC month, or ever, like 10000/month');

export const withLimitChanges = (command: CliCommand): CliCommand =>
  withLimits(command)
    .addOption(new Option('--clear-rate', 'remove the rate limit').conflicts(['rate', 'burst']))
    .addOption(new Option('--clear-quota', 'remove the quota').conflicts('quota'));

/** @returns a member for each named limit, null for one to remove @throws UsageError */
export function parseLimits({ rate, burst, quota, clearRate, clearQuota }: LimitChangeOptions): KeyLimits {
  if (burst !== undefined && rate === undefined) throw new UsageError('--burst needs --rate');
  return {
    ...(rate === undefined ? {} : { rate: parseRate(rate, burst) }),
    ...(clearRate ? { rate: null } : {}),
    ...(quota === undefined ? {} : { quota: parseQuota(quota) }),
    ...(clearQuota ? { quota: null } : {}),
  };
}

function parseRate(text: string, burstText: string | undefined): NonNullable<KeyLimits['rate']> {
  const [, count = '', unit = '', seconds] = /^(\d{1,7})\/(second|minute|hour|day|(\d{1,5})s)$/.exec(text) ?? [];
  const limit = Number(count);
  const windowSeconds = seconds === undefined ? (secondsOf[unit] ?? 0) : Number(seconds);
  if (limit < 1 || limit > rateMax || windowSeconds < 1 || windowSeconds > windowSecondsMax)
    throw new UsageError(
      `--rate must be 1 to ${rateMax} per second, minute, hour or day, or in 1 to ${windowSecondsMax} seconds, like 600/minute or 100/10s, not “${text}”`,
    );
  if (burstText === undefined) return { limit, windowSeconds };
  const burst = /^\d{1,7}$/.test(burstText) ? Number(burstText) : 0;
  if (burst < 1 || burst > limit)
    throw new UsageError(`--burst must be a whole number from 1 to the limit of --rate, ${limit}, not “${burstText}”`);
  return { limit, windowSeconds, burst };
}

function parseQuota(text: string): NonNullable<KeyLimits['quota']> {
  const [, count = '', per] = /^(\d{1,13})\/(day|month|ever)$/.exec(text) ?? [];
  const limit = Number(count);
  if (limit < 1 || limit > quotaMax)
    throw new UsageError(`--quota must be like 500/day, 10000/month or 100/ever, from 1 to ${quotaMax}, not “${text}”`);
  return { limit, per: per as 'day' | 'month' | 'ever' };
}

/** In the form of the options. */
export function rateText(rate: KeyLimits['rate']): string {
  if (!rate) return 'none';
  const { limit, windowSeconds, burst = limit } = rate;
  const unit = Object.keys(secondsOf).find((name) => secondsOf[name] === windowSeconds) ?? `${windowSeconds}s`;
  return `${limit}/${unit}, burst ${burst}`;
}

/** @param use null only without a quota */
export function quotaText(quota: KeyLimits['quota'], use: QuotaUse | null): string {
  if (!quota || !use) return 'none';
  const { used, resetsAt } = use;
  return `${quota.limit}/${quota.per}, ${used} used${resetsAt === null ? '' : `, resets at ${resetsAt}`}`;
}
