/** All figures: what each measures, what it requires, and the function that measures it. */
import { auditCut } from './audit-cut.ts';
import { before } from './before.ts';
import type { Bench } from './bench.ts';
import { besideChanges, besideSignIns, calm } from './beside.ts';
import { cost } from './cost.ts';
import { creation } from './creation.ts';
import { failover } from './failover.ts';
import { fairness } from './fairness.ts';
import { floods } from './floods.ts';
import { flush } from './flush.ts';
import { limits } from './limits.ts';
import type { Report } from './report.ts';
import { memory, startTimes } from './resources.ts';
import { sdk, sdkOfGo } from './sdk.ts';
import { size } from './size.ts';
import { tracing } from './tracing.ts';
import { work } from './work.ts';

export interface Figure {
  readonly measures: string;
  readonly required: string;
  /** Whether a run without a name leaves it out. */
  readonly isByNameOnly?: boolean;
  readonly run: (bench: Bench, report: Report) => Promise<void>;
}

export const figures: Readonly<Record<string, Figure>> = {
  calm: {
    measures: 'p50, p99 and processor time of verifications at 2,000/s and 10,000/s, without other load',
    required: 'not above the version before (`before`)',
    run: calm,
  },
  'sign-ins': {
    measures: 'p99 of verifications beside 400 wrong sign-ins/s',
    required: 'at 2,000/s at most 2 times the p99 alone and 5 ms; at 10,000/s 3 times and 8 ms',
    run: besideSignIns,
  },
  changes: {
    measures: 'p99 of verifications beside 200 creations/s and 200 deletions/s of keys',
    required:
      'at 2,000/s at most 1.5 times the p99 alone and 3 ms (PostgreSQL 2 times and 5 ms); at 10,000/s 3 times and 8 ms',
    run: besideChanges,
  },
  floods: {
    measures:
      'p50 of verifications beside floods of unknown paths, wrong assertions and identity tokens, leak reports and forged tokens',
    required: 'at most 1.2 times the p50 alone, for each',
    run: floods,
  },
  flush: {
    measures: 'p99 of verifications with a flush of usage, divided by that without; random keys of a million',
    required: 'at most 1.25',
    run: flush,
  },
  cost: {
    measures: 'processor time of verifications compared with a constant response; random keys of a million',
    required: 'SQLite: /auth/forward at most 1.8, /auth/verify at least 0.45, a credential of a batch at most 0.65',
    run: cost,
  },
  creation: {
    measures: 'creations of keys compared with PocketBase 0.36 on one core',
    required: 'at least 1.15 by processor time and by rate',
    run: creation,
  },
  start: {
    measures: 'time from a warm start to the first response',
    required: 'at most 345 ms; `npm start` the same without npm’s own share',
    run: startTimes,
  },
  memory: {
    measures: 'anonymous memory of the processes',
    required: 'at rest at most 70 MiB, a verifier 60 MiB; after a million verifications 120 MiB',
    run: memory,
  },
  size: {
    measures: 'space on the disk: of 10,000 keys, of `--keys`, and of usage',
    required: 'none',
    isByNameOnly: true,
    run: size,
  },
  before: {
    measures: 'verifications compared with an earlier commit (`--commit REF`)',
    required: 'processor time at most 1.02',
    isByNameOnly: true,
    run: before,
  },
  failover: {
    measures:
      'verifications with `KEYREEVE_DATABASE_FAILOVER=unfenced` compared with `fenced`, on a cluster of Patroni; with `--accept-noise --rounds 51`',
    required: 'rate at least 0.99, processor time at most 1.01',
    isByNameOnly: true,
    run: failover,
  },
  limits: {
    measures: 'keys with limits compared with keys without',
    required: 'processor time of unlimited / limited keys: hot keys 0.85 (PostgreSQL 0.8), keys used once 0.3',
    isByNameOnly: true,
    run: limits,
  },
  tracing: {
    measures: 'processor time with the tracing package, and with one request in a hundred recorded',
    required: 'at most 1.01; at most 1.02',
    isByNameOnly: true,
    run: tracing,
  },
  work: {
    measures: 'p99 of verifications beside scrapes, lists, backup, imports and the verification of the audit log',
    required: 'none',
    isByNameOnly: true,
    run: work,
  },
  'audit-cut': {
    measures: 'verifications and creations beside a cut of the audit log',
    required: 'none',
    isByNameOnly: true,
    run: auditCut,
  },
  fairness: {
    measures: 'deletions of an account beside floods of other accounts over 1,200 connections',
    required: '99 % succeed; p99 at most 10 times the p99 alone',
    isByNameOnly: true,
    run: fairness,
  },
  sdk: {
    measures: 'the client library for Node compared with one request for each verification',
    required: 'rate with 64 and 256 at once at least 3 and 5',
    isByNameOnly: true,
    run: sdk,
  },
  'sdk-go': {
    measures: 'the same for the library for Go',
    required: 'the same',
    isByNameOnly: true,
    run: sdkOfGo,
  },
};
