/**
 * The events of the log: level, meaning, and what an operator does. A line with another event does not compile, and
 * `docs/operating.md` has this table. Texts are Markdown with links relative to `docs/`.
 */
type Description = readonly [level: string, meaning: string, action?: string];

export const logEvents = {
  request: ['info', 'a response that is no problem document'],
  refused: ['debug–error', 'a problem document', 'at `error`, check the database'],
  repeated: [
    'as its lines',
    '`count` more lines of the event in `repeated`, from `clientRange`',
    'correct the client, or block its network',
  ],
  verification_failed: ['error', 'a verification failed because of `err`'],
  verifications: [
    'info',
    'verifications by result in a minute, and `eventLoopDelayMaxMs`',
    'delay above 100: add an instance',
  ],
  sign_in_failed: [
    'warn',
    '`invalid_credentials`, `second_factor_invalid`, `passkey_rejected` or `too_many_attempts`, with `clientIp` and `accountId`',
    'send it to the SIEM or [fail2ban](#ban-clients-with-fail2ban)',
  ],
  single_sign_on_failed: ['warn, debug', 'a single sign-on failed, with [`reason`](single-sign-on.md) and `err`'],
  client_rejected: ['info', 'the `reason` of an [`invalid_client`](api-keys.md#oauth-clients)'],
  assertion_rejected: ['info', 'the `reason` of an [`invalid_grant`](public-keys.md)'],
  identity_token_rejected: ['info', 'the `reason` of a rejected [identity token](workload-identity.md)'],
  forwarded_for_malformed: ['warn', '`X-Forwarded-For` has a host name, port or brackets', 'correct `proxy`'],
  idle_connections_closed: [
    'warn',
    'the process had 10,000 connections',
    'find the clients; list proxies in `KEYREEVE_TRUSTED_PROXIES`',
  ],
  stalled_connections_closed: ['warn', '`closed` clients did not read their responses'],
  configuration: ['warn', 'a risky setting', 'follow `detail`'],
  hashing_priority: [
    'warn',
    'a flood of sign-ins can delay verifications',
    'on Linux, permit the system call `setpriority`',
  ],
  listening: ['info', 'the service accepts requests'],
  stopping: ['info', 'the service stops, for `reason`'],
  stopped: ['info', '`isDrained`: all connections ended in time'],
  notify_failed: ['error', 'systemd did not get `message`', 'install `systemd-notify`'],
  migrated: ['info', 'this start applied `migrations`'],
  file_applied: ['info', 'this start applied a [file](apply.md), with `steps`'],
  migration_waits: [
    'warn',
    'a migration waits for a backup or another long transaction, `waitedSeconds` of `secondsMax`',
    '[let it end](upgrade.md#a-cluster)',
  ],
  first_administrator_code_failed: ['warn', 'the first administrator has no code', 'run `keyreeve admin bootstrap`'],
  console_files_missing: [
    'error',
    'the console cannot be served',
    'install the package again; in a checkout, `npm run build`',
  ],
  portal_files_missing: [
    'error',
    'the key page cannot be served',
    'install the package again; in a checkout, `npm run build`',
  ],
  docs_files_missing: [
    'error',
    'the documentation cannot be served',
    'install the package again; in a checkout, `npm run build`',
  ],
  outbox_failed: ['warn', 'a mail or webhook failed and is retried', 'read `err`, run `keyreeve mail test`'],
  outbox_given_up: [
    'error',
    'a job was rejected, or failed for three days',
    'read `err`; find `id` in the log of the mail server',
  ],
  webhooks_not_followed: ['warn', 'new events wait for publication', 'check the database'],
  webhook_deliveries_not_logged: ['warn', 'the log of deliveries lacks entries', 'check the database'],
  overview_not_written: ['warn', 'the [overview](administration.md#the-overview) lacks entries', 'check the database'],
  quota_notices_dropped: [
    'warn',
    '`count` quotas got no event: more than 20,000 waited, or 1,000 at the stop',
    'check the database',
  ],
  usage_file_renewed: [
    'warn',
    'the [usage file](operating.md#the-usage-file) was `reason`; counts are lost, and days without a use count anew',
    'if `unusable`: check its disk, then delete the file `….unusable`',
  ],
  unused_keys_disabled: ['info', '`count` [unused](api-keys.md#unused-keys) keys were disabled'],
  issuer_keys_not_fetched: [
    'warn',
    'the JWK set of an [issuer](workload-identity.md) cannot be fetched; exchanges of its tokens get 503 when the last one is 5 minutes old',
    'permit the request; see `err`',
  ],
  github_keys_not_fetched: ['warn', 'the [keys of GitHub](leaks.md) are missing', 'permit the request'],
  export_incomplete: [
    'warn',
    'the client of `export` disconnected, lost its rights or was slow, or `err`',
    'repeat it',
  ],
  audit_checkpoint: ['info', 'the end of the audit log', '[store it off the machine](audit.md#checkpoints)'],
  audit_cut: ['info', 'the [retention](audit.md#retention) removed `removed` events'],
  audit_cut_blocked: [
    'warn',
    'old audit events stay: `reason` is `clock`, `deletion_journal`, `webhooks` or `integrity`',
    'follow `detail`',
  ],
  deletion_journal_failed: [
    'error',
    'deletions apply, but their clients get `503`',
    'free disk space, or mount the folder',
  ],
  deletion_journal_damaged: [
    'error',
    'a file was edited, copied or is of another installation',
    'move the file in `detail` [out of the folder](backup.md#the-deletion-journal)',
  ],
  deletion_journal_ahead: [
    'warn',
    'the database is older than the deletion journal: `working` deleted credentials work again',
    '[replay](backup.md#after-a-failover-or-a-file-copy) immediately',
  ],
  database_replaced: [
    'fatal',
    'the file at `path` was replaced, moved or removed, and the service exits',
    'put the right file in place; if it is older, replay the deletion journal',
  ],
  root_key_changed: [
    'fatal',
    'the process exits after a [rotation of the root key](master-key.md#after-a-leak)',
    'start again',
  ],
  verifier_listening: ['info', 'a verifier accepts connections'],
  verifier_ended: [
    'error',
    'a verifier exited and is replaced',
    'read earlier lines; `SIGKILL`: often too little memory',
  ],
  verifier_not_started: [
    'fatal',
    'a verifier cannot start',
    'correct the cause in `err`; after an upgrade in place, restart the service',
  ],
  verifier_refuses: ['fatal', 'a verifier ends: its main process has ended, or the database file was replaced'],
  verifier_unresponsive: [
    'error',
    'a verifier did not confirm a change of unknown outcome, or sent no message for 10 s, and was killed',
    'if it repeats, the machine is overloaded',
  ],
  verifier_priority: ['warn', 'the main process has the priority of its verifiers', 'read `detail`'],
  verify_socket_in_use: [
    'warn',
    'another process has the verification listener; the service tries again',
    'end that process: `ss -lptn`, often a stopped verifier of an earlier start',
  ],
  verify_socket_not_bound: [
    'error',
    'the verification listener cannot be bound after it was in use; the service tries again',
    'correct the cause in `err`, such as the permissions of the folder',
  ],
  log_records_lost: ['error', '`records` records are missing here', 'free disk space, or check the reader of the log'],
  housekeeping_failed: [
    'warn',
    'periodic work failed: usage, last uses, quotas, checkpoints, expiry, retention, unused keys',
    'if it repeats, check the database',
  ],
  crashed: ['fatal', 'a defect ends the process', 'start it, and report the line'],
} as const satisfies Readonly<Record<string, Description>>;

export type LogEvent = keyof typeof logEvents;
