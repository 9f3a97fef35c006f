/** `keyreeve webhook …` */
import { Command } from 'commander';
import { limits, webhookEvents } from '@keyreeve/contract';
import { toInstant } from '../foundation/clock.ts';
import { toWebhook } from '../modules/webhooks/endpoints.ts';
import { collect, jsonHelp, plural, print, table, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';
import { UsageError } from './failure.ts';

export function webhookCommand(setStatus: (status: number) => void): Command {
  const webhook = new Command('webhook').description('Endpoints that are told what happens to accounts and keys.');
  webhook
    .command('create')
    .description('Set up an endpoint. The secret that its deliveries are signed with is printed this once.')
    .argument('<url>', 'where it listens, with https')
    .requiredOption(
      '--event <event>',
      `what it is told; may be given several times: ${webhookEvents.join(', ')}`,
      collect,
    )
    .option('--json', jsonHelp)
    .action(create);
  webhook.command('list').description('List the endpoints.').option('--json', jsonHelp).action(list);
  const forOne = (name: string, description: string): Command =>
    webhook.command(name).description(description).argument('<id>', 'the endpoint’s id').option('--json', jsonHelp);
  forOne('show', 'Show an endpoint and how its deliveries go.').action(show);
  forOne('disable', 'Tell it nothing any more; what waits for it is dropped.').action(
    (id: string, options: OutputOptions) => change(id, options, 'disable'),
  );
  forOne('enable', 'Tell it what happens from now on.').action((id: string, options: OutputOptions) =>
    change(id, options, 'enable'),
  );
  forOne(
    'rotate-secret',
    `Give it a new secret; the one before signs beside it for ${limits.webhookSecretOverlapSeconds / 3_600} hours.`,
  ).action(rotateSecret);
  forOne('delete', 'Delete an endpoint with what waits for it.').action((id: string, options: OutputOptions) =>
    change(id, options, 'delete'),
  );
  forOne('test', 'Send it an event of the type webhook.test from here, once.').action(
    (id: string, options: OutputOptions) => test(id, options, setStatus),
  );
  return webhook;
}

async function create(url: string, options: OutputOptions & { event: readonly string[] }): Promise<void> {
  const { event: events } = options;
  const unknown = events.find((event) => !(webhookEvents as readonly string[]).includes(event));
  if (unknown !== undefined) throw new UsageError(`there is no event “${unknown}”; --help lists them`);
  const { secret, ...endpoint } = await withInstallation({}, ({ webhooks }) =>
    webhooks.endpoints.create(operator, { url, events }),
  );
  const { id, createdAt, updatedAt, disabledAt, ...rest } = toWebhook(endpoint);
  const value = { id, url: rest.url, events: rest.events, createdAt, updatedAt, disabledAt, secret: secret.reveal() };
  print(
    options,
    value,
    `Set up webhook endpoint ${id} for ${rest.url}.\nSecret: ${secret.reveal()}\nIt is shown this once.`,
  );
}

async function list(options: OutputOptions): Promise<void> {
  const endpoints = (await withInstallation({}, ({ webhooks }) => webhooks.endpoints.list())).map(toWebhook);
  const rows = endpoints.map(({ id, url, disabledAt, waiting, lastDeliveredAt, lastFailedAt, lastFailure }) => [
    id,
    url,
    disabledAt === null ? 'enabled' : 'disabled',
    String(waiting),
    lastDeliveredAt ?? '',
    lastFailedAt === null ? '' : `${lastFailedAt}: ${lastFailure}`,
  ]);
  const head = ['ID', 'URL', 'STATE', 'WAITING', 'LAST DELIVERED', 'LAST FAILURE'];
  print(options, endpoints, `${table(head, rows)}\n${plural(endpoints.length, 'endpoint')}`);
}

async function show(id: string, options: OutputOptions): Promise<void> {
  const endpoint = toWebhook(await withInstallation({}, ({ webhooks }) => webhooks.endpoints.find(id)));
  const { url, events, createdAt, disabledAt, waiting, lastDeliveredAt, lastFailedAt, lastFailure } = endpoint;
  const rows = [
    ['url', url],
    ['events', events.join(' ')],
    ['created', createdAt],
    ['state', disabledAt === null ? 'enabled' : `disabled at ${disabledAt}`],
    ['waiting', String(waiting)],
    ['last delivered', lastDeliveredAt ?? 'never'],
    ['last failure', lastFailedAt === null ? 'none' : `${lastFailedAt}: ${lastFailure}`],
  ];
  print(options, endpoint, table(['id', id], rows));
}

const done = { disable: 'Disabled', enable: 'Enabled', delete: 'Deleted' } as const;

async function change(id: string, options: OutputOptions, verb: keyof typeof done): Promise<void> {
  await withInstallation({}, ({ webhooks }) => webhooks.endpoints[verb](operator, id));
  print(options, { id, [done[verb].toLowerCase()]: true }, `${done[verb]} webhook endpoint ${id}.`);
}

async function rotateSecret(id: string, options: OutputOptions): Promise<void> {
  const { secret, previousValidUntil } = await withInstallation({}, ({ webhooks }) =>
    webhooks.endpoints.rotateSecret(operator, id),
  );
  const until = toInstant(previousValidUntil);
  print(
    options,
    { id, secret: secret.reveal(), previousValidUntil: until },
    `Secret: ${secret.reveal()}\nIt is shown this once. The one before signs beside it until ${until}.`,
  );
}

async function test(id: string, options: OutputOptions, setStatus: (status: number) => void): Promise<void> {
  const { status, failure } = await withInstallation({}, ({ webhooks }) => webhooks.endpoints.test(id));
  if (failure !== null) setStatus(1);
  const text = failure === null ? `Delivered: it answered ${status}.` : `Not delivered: ${failure}.`;
  print(options, { delivered: failure === null, status, failure }, text);
}
