/** The tables of `docs/operating.md`: the metrics of the program with what an operator does, and the events of its log. */
import { Metrics, type MetricDescription, type MetricsSources } from '../packages/server/src/app/metrics/metrics.ts';
import { logEvents } from '../packages/server/src/foundation/log-events.ts';
import { withMarkedTables } from './marked-tables.ts';

/** Name of a metric → when to act and what to do, or what else to know. Markdown. */
const actions: Readonly<Record<string, string>> = {
  keyreeve_verifications_total: '`not_found` rises: a client guesses keys or uses a deleted one',
  keyreeve_http_requests_total: '`5xx` rises: read `refused` in the log. Route `none`: unknown',
  keyreeve_rate_limited_requests_total: 'find the client in the log, or raise the [limit](limits.md)',
  keyreeve_key_usage_total:
    '`dropped` rises: more than 200,000 keys wait; see `keyreeve_key_usage_waiting`. `unknown`: lost',
  keyreeve_key_usage_waiting: 'rises for minutes: run `keyreeve doctor`; above 200,000, usage is incomplete',
  keyreeve_key_limit_draws_total: '`failed` (`503`): check the database. `unknown`: the tokens are lost',
  keyreeve_key_limit_tokens_total: 'many unspent: keys get [less than their limits](api-keys.md#how-exact-limits-are)',
  keyreeve_key_limit_waits_total: '`rejected` (`503`): more than 2,000 wait in a process; check the database',
  keyreeve_sign_ins_total: '`refused` and `limited` rise: a client guesses passwords; act if `accepted` rises too',
  keyreeve_refreshes_total:
    '`refused` rises: clients keep old tokens, or one was stolen (`refresh_token_reused`); `failed`: no database',
  keyreeve_device_requests_total:
    '`begun` rises without `approved`: a client starts [sign-ins of programs](device-sign-in.md) that no person approves; `refused`: the right was lost before the poll',
  keyreeve_exchanges_total:
    '`limited` (`429`): a key reaches a [limit](limits.md); `failed` (`503`): check the database and the fetches below; others: the `reason` in the log',
  keyreeve_identity_token_signatures_total: '`invalid` rises: a client guesses; `identity_token_rejected` has the key',
  keyreeve_issuer_key_set_fetches_total: '`failed` rises: read `issuer_keys_not_fetched`',
  keyreeve_password_hashes_waiting: 'stays above 0: add processors',
  keyreeve_password_hashes_total: '`refused` (`503`) rises: add processors or an instance',
  keyreeve_database_operation_duration_seconds: 'above 0.1: the database, network, disk or standby is slow',
  keyreeve_database_writes: '`0`: no key can be deleted',
  keyreeve_database_commits_total: '`failed` rises: free disk space, or check PostgreSQL',
  keyreeve_database_errors_total: 'rises: read `refused` in the log',
  keyreeve_postgres_connections: '`active` stays at 12 for each instance: PostgreSQL is slow',
  keyreeve_postgres_primary_proof_age_seconds: 'above 15 (`503`): no standby confirms writes',
  keyreeve_event_loop_delay_max_seconds: 'above 0.1: add an instance',
  keyreeve_outbox_oldest_seconds: 'retries end after [three days](mail.md#when-the-mail-server-is-down)',
  keyreeve_outbox_attempts_total: '`failed` rises: read `outbox_failed`',
  keyreeve_webhook_deliveries_total:
    '`failed` rises: run `keyreeve webhook list`; `refused`: an [internal address](webhooks.md#where-deliveries-may-go)',
  keyreeve_database_bytes:
    'PostgreSQL: alert if `predict_linear(keyreeve_database_bytes[7d], 30 * 86400)` exceeds the disk',
  keyreeve_disk_free_bytes: 'absent without a response in 3 s',
  keyreeve_audit_events: 'grows without end: set `KEYREEVE_AUDIT_DAYS`',
  keyreeve_accounts: 'SQLite: up to 1,000,000',
  keyreeve_sessions: 'rises without sign-ups: clients sign in instead of refreshing',
  keyreeve_build_info: 'after an upgrade, the same everywhere',
  keyreeve_verifiers_replaced_total: 'rises: read `verifier_ended`; often too little memory',
  keyreeve_verifier_event_loop_delay_max_seconds: 'above 0.1: add a verifier or an instance',
};

/** Sources of every metric, from which no value is read. */
const sources = {
  db: { dialect: 'postgres', times: {}, writes: {}, connections: {} },
  config: { database: { kind: 'sqlite', path: 'keyreeve.db' }, auditDays: 30 },
  uses: {},
  verifiers: {},
  journal: {},
  verifier: {},
  hasher: {},
};

/** @throws Error if an action is of no metric */
function metricDescriptions(): MetricDescription[] {
  const described = new Metrics(sources as unknown as MetricsSources).descriptions;
  const unknown = Object.keys(actions).filter((action) => described.every(({ name }) => name !== action));
  if (unknown.length > 0) throw new Error(`no such metric: ${unknown.join(', ')}`);
  return described.filter(({ name }) => name.startsWith('keyreeve_'));
}

const withAction = (meaning: string, action: string | undefined): string =>
  action === undefined ? meaning : `${meaning}; ${action}`;

const metricRow = ({ name, help, labelNames = [] }: MetricDescription): string =>
  `\`${name}${labelNames.length > 0 ? `{${labelNames.join()}}` : ''}\` | ${withAction(help, actions[name])}`;

const eventRow = ([event, [level, meaning, action]]: [string, readonly [string, string, string?]]): string =>
  `\`${event}\`, ${level} | ${withAction(meaning, action)}`;

/** Name of the table → its lines. */
const tables = (): Readonly<Record<string, readonly string[]>> => ({
  metrics: ['metric | meaning; when to act', '--- | ---', ...metricDescriptions().map(metricRow)],
  'log events': ['event, level | meaning; what to do', '--- | ---', ...Object.entries(logEvents).map(eventRow)],
});

export const withTables = (page: string): string => withMarkedTables(page, tables());
