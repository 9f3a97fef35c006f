/** `keyreeve webhook …`: webhook endpoints, for an operator. */
import type { Command } from 'commander';
import { limits, webhookEvents, type Webhook, type WebhookEvent } from '@keyreeve/contract';
import { CliCommand, type SetStatus } from './command.ts';
import { collect, plural, print, table, type OutputOptions } from './output.ts';
import { withOperations } from './operations/operations.ts';
import { UsageError } from './failure.ts';

export function webhookCommand(setStatus: SetStatus): Command {
  const webhook = new CliCommand('webhook')
    .group('daily')
    .description('Manage webhook endpoints.')
    .references('docs/webhooks.md', 'database', 'masterKey', 'webhookTargets');
  webhook
    .command('create')
    .description('Create an endpoint. The secret that signs its deliveries is printed only once.')
    .argument('<url>', 'https URL that receives the events')
    .requiredOption('--event <event>', `event to deliver (repeatable): ${webhookEvents.join(', ')}`, collect)
    .json()
    .remote('administrator')
    .examples('keyreeve webhook create https://example.com/hooks --event account.deleted --event api_key.deleted')
    .action(create);
  webhook
    .command('list')
    .description('List all endpoints.')
    .json()
    .remote('administrator')
    .examples('keyreeve webhook list')
    .action(list);
  const forOne = (name: string, description: string, options = ''): Command =>
    webhook
      .command(name)
      .description(description)
      .argument('<id>', 'id of the endpoint')
      .json()
      .remote('administrator')
      .examples(`keyreeve webhook ${name} whe_3Xq0mZ5vT8kLr2Wc9YbN4d${options}`);
  forOne('show', 'Show an endpoint and the state of its deliveries.').action(show);
  forOne(
    'change',
    'Change the URL or the events of an endpoint. A new URL gets a new secret, which is printed only once.',
    ' --new-url https://example.com/hooks/2',
  )
    .option('--new-url <url>', 'https URL that receives the events from now on, also the pending ones')
    .option('--event <event>', `event to deliver instead of the earlier ones (repeatable)`, collect)
    .action(changeEndpoint);
  forOne('disable', 'Stop deliveries to an endpoint and drop its pending events.').action(
    (id: string, options: OutputOptions) => change(id, options, 'disable'),
  );
  forOne('enable', 'Resume deliveries to an endpoint, with events from now on.').action(
    (id: string, options: OutputOptions) => change(id, options, 'enable'),
  );
  forOne(
    'rotate-secret',
    `Replace the secret of an endpoint. The previous secret also signs for ${limits.webhookSecretOverlapSeconds / 3_600} hours.`,
  ).action(rotateSecret);
  forOne('delete', 'Delete an endpoint and its pending events.').action((id: string, options: OutputOptions) =>
    change(id, options, 'delete'),
  );
  forOne('test', 'Send one event of the type webhook.test, from this machine or from the service at --url.').action(
    (id: string, options: OutputOptions) => test(id, options, setStatus),
  );
  return webhook;
}

async function create(url: string, options: OutputOptions & { event: readonly string[] }): Promise<void> {
  const { event: events } = options;
  const created = await withOperations((to) => to.webhooks.create({ url, events: known(events) }));
  print(options, created, [
    `Created webhook endpoint ${created.id} for ${created.url}.`,
    `Secret: ${created.secret}`,
    'It is shown only once.',
  ]);
}

interface ChangeOptions extends OutputOptions {
  readonly newUrl?: string;
  readonly event?: readonly string[];
}

async function changeEndpoint(id: string, { newUrl: url, event, ...options }: ChangeOptions): Promise<void> {
  if (url === undefined && event === undefined) throw new UsageError('give --new-url, --event or both');
  const wanted = { ...(url !== undefined && { url }), ...(event && { events: known(event) }) };
  const changed = await withOperations((to) => to.webhooks.change(id, wanted));
  const { webhook, secret } = changed;
  const text = [`Changed webhook endpoint ${id} for ${webhook.url}.`];
  if (secret !== null)
    text.push(
      `Secret: ${secret}`,
      'It is shown only once. The earlier secret signs nothing that the new URL gets.',
      `Pending events that go to the new URL: ${webhook.waiting}.`,
    );
  print(options, changed, text);
}

function known(names: readonly string[]): WebhookEvent[] {
  const unknown = names.find((name) => !(webhookEvents as readonly string[]).includes(name));
  if (unknown !== undefined) throw new UsageError(`there is no event “${unknown}”; see --help`);
  return names as WebhookEvent[];
}

const stateOf = ({ disabledAt, failingSince }: Pick<Webhook, 'disabledAt' | 'failingSince'>): string =>
  disabledAt === null ? (failingSince === null ? 'enabled' : 'failing') : 'disabled';

async function list(options: OutputOptions): Promise<void> {
  const endpoints = await withOperations((to) => to.webhooks.list());
  const rows = endpoints.map(({ id, url, waiting, lastDeliveredAt, lastFailedAt, lastFailure, ...state }) => [
    id,
    url,
    stateOf(state),
    String(waiting),
    lastDeliveredAt ?? '',
    lastFailedAt === null ? '' : `${lastFailedAt}: ${lastFailure}`,
  ]);
  const head = ['ID', 'URL', 'STATE', 'WAITING', 'LAST DELIVERED', 'LAST FAILURE'];
  print(options, endpoints, `${table(head, rows)}\n${plural(endpoints.length, 'endpoint')}`);
}

async function show(id: string, options: OutputOptions): Promise<void> {
  const endpoint = await withOperations((to) => to.webhooks.find(id));
  const { url, events, createdAt, disabledAt, failingSince, waiting, nextAttemptAt } = endpoint;
  const { lastDeliveredAt, lastFailedAt, lastFailure } = endpoint;
  const since = disabledAt ?? failingSince;
  const rows = [
    ['url', url],
    ['events', events.join(' ')],
    ['created', createdAt],
    ['state', `${stateOf(endpoint)}${since === null ? '' : ` since ${since}`}`],
    ['waiting', String(waiting)],
    ['next attempt', nextAttemptAt ?? 'none'],
    ['last delivered', lastDeliveredAt ?? 'never'],
    ['last failure', lastFailedAt === null ? 'none' : `${lastFailedAt}: ${lastFailure}`],
  ];
  print(options, endpoint, table(['id', id], rows));
}

const done = { disable: 'Disabled', enable: 'Enabled', delete: 'Deleted' } as const;

async function change(id: string, options: OutputOptions, verb: keyof typeof done): Promise<void> {
  await withOperations((to) => to.webhooks[verb](id));
  print(options, { id, [done[verb].toLowerCase()]: true }, `${done[verb]} webhook endpoint ${id}.`);
}

async function rotateSecret(id: string, options: OutputOptions): Promise<void> {
  const { secret, previousValidUntil } = await withOperations((to) => to.webhooks.rotateSecret(id));
  print(options, { id, secret, previousValidUntil }, [
    `Secret: ${secret}`,
    `It is shown only once. The previous secret also signs until ${previousValidUntil}.`,
  ]);
}

async function test(id: string, options: OutputOptions, setStatus: (status: number) => void): Promise<void> {
  const { delivered, status, failure } = await withOperations((to) => to.webhooks.test(id));
  if (!delivered) setStatus(1);
  const text = delivered ? `Delivered: the endpoint returned ${status}.` : `Not delivered: ${failure}.`;
  print(options, { delivered, status, failure }, [text]);
}
