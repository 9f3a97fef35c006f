/** Administration: the overview of the installation. */
import Type, { type Static } from 'typebox';
import { administrator } from './admin-parts.ts';
import { AuditEvent } from './admin-schemas.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { route } from './route.ts';
import { Instant, orNull, Text } from './schemas.ts';

const Count = Type.Integer({ minimum: 0 });

export const ResultCount = Named('ResultCount', { result: Text('api_key'), count: Count });
const Results = Type.Array(ResultCount, { description: 'Without results that did not occur' });

const UpperBound = orNull(
  Type.Number({ minimum: 0, description: '5000 stands for all durations above 1000', examples: [2] }),
);
export const Quantiles = Named('Quantiles', { p50: UpperBound, p99: UpperBound });

export const Instance = Named('Instance', {
  id: Text('ins_3K9vQm1ZyT4cW8nB6pXr2L'),
  version: Text('0.2.0'),
  startedAt: Instant,
  seenAt: Instant,
  isRunning: Type.Boolean({ description: 'Seen in the last 3 minutes; others ended without a shutdown' }),
});
export const OverviewMinute = Named('OverviewMinute', { at: Instant, results: Results, signIns: Results });
export const Hashing = Named('PasswordHashing', {
  running: Type.Integer({ minimum: 0, description: 'Now, in the process that answers' }),
  waiting: Type.Integer({ minimum: 0, description: 'As `running`' }),
  results: Results,
});
export const WaitingJobs = Named('WaitingJobs', { kind: Text('mail'), waiting: Count, oldestSeconds: Count });
export const Attention = Named('Attention', {
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
});

export const Overview = Named('Overview', {
  now: Instant,
  instances: Type.Array(Instance, { description: 'Processes' }),
  minutes: Type.Array(OverviewMinute, { description: 'The last 60, oldest first' }),
  verificationMs: Quantiles,
  databaseMs: Quantiles,
  hashing: Hashing,
  outbox: Type.Array(WaitingJobs),
  events: Type.Array(AuditEvent, { description: `The newest ${limits.overviewEventsMax} audit events` }),
  attention: Type.Array(Attention),
});
export type Overview = Static<typeof Overview>;

export const adminGetOverview = route('adminGetOverview', 'GET /admin/overview', {
  ...administrator,
  summary: 'Read the overview',
  description:
    'What all processes counted in each of the last 60 minutes, durations of the last 5 minutes (upper bounds of the histogram’s buckets), and what needs attention.',
  success: { status: 200, description: 'The overview', schema: Overview },
});
