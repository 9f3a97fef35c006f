/** Administration: the overview of the installation. */
import Type, { type Static } from 'typebox';
import { administrator } from './admin-parts.ts';
import { AuditEvent } from './admin-schemas.ts';
import { limits } from './limits.ts';
import { route } from './route.ts';
import { Instant, orNull, Text } from './schemas.ts';

const strict = { additionalProperties: false } as const;
const Count = Type.Integer({ minimum: 0 });

export const ResultCount = Type.Object({ result: Text('api_key'), count: Count }, { $id: 'ResultCount', ...strict });
const Results = Type.Array(ResultCount, { description: 'Without results that did not occur' });

const UpperBound = orNull(
  Type.Number({ minimum: 0, description: '5000 stands for all durations above 1000', examples: [2] }),
);
export const Quantiles = Type.Object({ p50: UpperBound, p99: UpperBound }, { $id: 'Quantiles', ...strict });

export const Instance = Type.Object(
  {
    id: Text('ins_3K9vQm1ZyT4cW8nB6pXr2L'),
    version: Text('0.2.0'),
    startedAt: Instant,
    seenAt: Instant,
    isRunning: Type.Boolean({ description: 'Seen in the last 3 minutes; others ended without a shutdown' }),
  },
  { $id: 'Instance', ...strict },
);
export const OverviewMinute = Type.Object(
  { at: Instant, results: Results, signIns: Results },
  { $id: 'OverviewMinute', ...strict },
);
export const Hashing = Type.Object(
  {
    running: Type.Integer({ minimum: 0, description: 'Now, in the process that answers' }),
    waiting: Type.Integer({ minimum: 0, description: 'As `running`' }),
    results: Results,
  },
  { $id: 'PasswordHashing', ...strict },
);
export const WaitingJobs = Type.Object(
  { kind: Text('mail'), waiting: Count, oldestSeconds: Count },
  { $id: 'WaitingJobs', ...strict },
);
export const Attention = Type.Object(
  {
    code: Type.Enum(
      [
        'check_failed',
        'instance_missing',
        'jobs_failing',
        'jobs_late',
        'webhook_failing',
        'signing_key_old',
        'check_warning',
      ],
      { description: 'In the order of the list, the most urgent first' },
    ),
    since: orNull(Instant),
    subject: Text(
      'whe_3K9vQm1ZyT4cW8nB6pXr2L',
      'Id of the process, webhook or signing key; kind of the jobs; name of the check',
    ),
    count: orNull(Type.Integer({ minimum: 0, description: 'Of the jobs' })),
    detail: orNull(
      Text('https://hooks.example.com/: connection refused', 'For operators; of a webhook, its URL and last failure'),
    ),
  },
  { $id: 'Attention', ...strict },
);

export const Overview = Type.Object(
  {
    now: Instant,
    instances: Type.Array(Instance, { description: 'Processes; a worker is one' }),
    minutes: Type.Array(OverviewMinute, { description: 'The last 60, oldest first' }),
    verificationMs: Quantiles,
    databaseMs: Quantiles,
    hashing: Hashing,
    outbox: Type.Array(WaitingJobs),
    events: Type.Array(AuditEvent, { description: `The newest ${limits.overviewEventsMax} audit events` }),
    attention: Type.Array(Attention),
  },
  { $id: 'Overview', ...strict },
);
export type Overview = Static<typeof Overview>;

export const adminGetOverview = route('adminGetOverview', 'GET /admin/overview', {
  ...administrator,
  summary: 'Read the overview',
  description:
    'What all processes counted in each of the last 60 minutes, durations of the last 5 minutes (upper bounds of the histogram’s buckets), and what needs attention.',
  success: { status: 200, description: 'The overview', schema: Overview },
});
