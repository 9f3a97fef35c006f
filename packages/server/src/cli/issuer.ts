/** `keyreeve issuer …`: issuers of identity tokens, for an operator. */
import { readFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import {
  issuerAlgorithms,
  issuerPresetNames,
  issuerReplays,
  limits,
  type AdminNewIssuerBody,
  type Issuer,
  type IssuerAlgorithm,
  type IssuerChangeBody,
  type IssuerPresetName,
  type IssuerReplay,
} from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import { parseJson } from '../foundation/json.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { parseCount } from './count.ts';
import { UsageError } from './failure.ts';
import { withOperations } from './operations/operations.ts';
import { collect, plural, print, table, type OutputOptions } from './output.ts';

export function issuerCommand(setStatus: SetStatus): Command {
  const issuer = new CliCommand('issuer')
    .group('daily')
    .description('Manage the issuers whose identity tokens workloads exchange for short-lived secrets.')
    .references('docs/workload-identity.md', 'database', 'masterKey', 'issuerTargets', 'issuerAuthorities');
  withSettings(issuer.command('add'))
    .description('Add an issuer, with the settings of its preset.')
    .argument('<issuer>', 'the claim iss of its tokens: an https URL')
    .addOption(new Option('--preset <name>', 'default: the one with this URL').choices(issuerPresetNames))
    .option('--service-account <id>', 'only the keys of this service account may trust it')
    .option('--jwks <file>', 'fixed JWK set, for an issuer that the service cannot reach')
    .examples(
      'keyreeve issuer add https://token.actions.githubusercontent.com',
      'keyreeve issuer add https://gitlab.example.com --preset gitlab',
    )
    .action(add);
  issuer
    .command('list')
    .description('List the issuers, with the number of keys that trust each.')
    .option('--service-account <id>', 'those of this service account')
    .json()
    .remote('administrator')
    .examples('keyreeve issuer list')
    .action(list);
  const forOne = (name: string, description: string, options = ''): CliCommand =>
    issuer
      .command(name)
      .description(description)
      .argument('<id>', 'id of the issuer')
      .json()
      .remote('administrator')
      .examples(`keyreeve issuer ${name} 4830184710273911${options}`);
  forOne('show', 'Show the settings of an issuer.').action(show);
  withSettings(
    issuer
      .command('change')
      .description('Change an issuer. What the options do not name stays as it is.')
      .argument('<id>', 'id of the issuer'),
  )
    .option('--jwks <file>', 'fixed JWK set instead of the earlier keys')
    .option('--fetch', 'fetch the JWK set from the issuer instead of a fixed one')
    .examples('keyreeve issuer change 4830184710273911 --lifetime 900')
    .action(change);
  forOne('remove', 'Remove an issuer, and end the short-lived secrets that were issued for its tokens.', ' --yes')
    .option('--yes', yesHelp)
    .action(remove);
  forOne('refresh', 'Fetch the JWK set of an issuer again, on all instances.').action(
    (id: string, options: OutputOptions) => refresh(id, options, setStatus),
  );
  return issuer;
}

/** Options for the settings of an issuer. */
const withSettings = (command: CliCommand): CliCommand =>
  command
    .addOption(
      new Option('--algorithm <name>', 'accepted signature algorithm (repeatable)')
        .choices(issuerAlgorithms)
        .argParser(algorithms),
    )
    .option('--lifetime <seconds>', 'longest accepted lifetime of a token')
    .addOption(
      new Option('--replay <rule>', 'accept each token once, by its jti, or until it expires').choices(issuerReplays),
    )
    .option(
      '--id-claim <pointer>',
      'claim with an id that is never registered again, such as /sub (repeatable)',
      collect,
    )
    .option('--list-claim <pointer>', 'claim that is a list (repeatable)', collect)
    .json()
    .remote('administrator');

function algorithms(value: string, before: readonly string[] = []): readonly string[] {
  if (!(issuerAlgorithms as readonly string[]).includes(value))
    throw new UsageError(`--algorithm must be one of ${issuerAlgorithms.join(', ')}, not “${value}”`);
  return [...before, value];
}

interface SettingOptions extends OutputOptions {
  readonly algorithm?: IssuerAlgorithm[];
  readonly lifetime?: string;
  readonly replay?: IssuerReplay;
  readonly idClaim?: string[];
  readonly listClaim?: string[];
  readonly jwks?: string;
}

function settingsOf({ algorithm, lifetime, replay, idClaim, listClaim, jwks }: SettingOptions) {
  const { issuerLifetimeSecondsMax, issuerLifetimeSecondsMin } = limits;
  const lifetimeSeconds = parseCount('--lifetime', lifetime, issuerLifetimeSecondsMax, issuerLifetimeSecondsMin);
  return {
    ...(algorithm && { algorithms: algorithm }),
    ...(lifetimeSeconds !== undefined && { lifetimeSeconds }),
    ...(replay !== undefined && { replay }),
    ...(idClaim && { idClaims: idClaim }),
    ...(listClaim && { listClaims: listClaim }),
    ...(jwks !== undefined && { jwks: readKeySet(jwks) }),
  };
}

/** @throws UsageError */
function readKeySet(path: string): NonNullable<Issuer['jwks']> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    const value = parseJson(bytes);
    const keys: unknown = (value as Partial<NonNullable<Issuer['jwks']>> | null)?.keys;
    if (Array.isArray(keys) && keys.every((key) => typeof key === 'object' && key !== null)) return { keys };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
  throw new UsageError(`${path} is no JWK set: {"keys": [{…}, …]}`);
}

interface AddOptions extends SettingOptions {
  readonly preset?: IssuerPresetName;
  readonly serviceAccount?: string;
}

async function add(url: string, { preset, serviceAccount, ...options }: AddOptions): Promise<void> {
  const wanted: AdminNewIssuerBody = {
    url,
    ...(preset !== undefined && { preset }),
    ...(serviceAccount !== undefined && { accountId: serviceAccount }),
    ...settingsOf(options),
  };
  const added = await withOperations((to) => to.issuers.add(wanted));
  print(options, added, [`Added the issuer ${added.url} (${added.id}).`, claimsLine(added)]);
}

const claimsLine = ({ idClaims }: Issuer): string =>
  `A key that trusts it names ${idClaims.length === 1 ? 'the id claim' : 'one of the id claims'} ${idClaims.join(', ')}.`;

async function list({ serviceAccount, ...options }: OutputOptions & { serviceAccount?: string }): Promise<void> {
  const issuers = await withOperations((to) => to.issuers.list(serviceAccount));
  const rows = issuers.map((issuer) => [
    String(issuer.id),
    issuer.url,
    issuer.algorithms.join(' '),
    issuer.replay,
    String(issuer.keys),
  ]);
  const head = ['ID', 'ISSUER', 'ALGORITHMS', 'REPLAY', 'KEYS'];
  print(options, issuers, `${table(head, rows)}\n${plural(issuers.length, 'issuer')}`);
}

async function show(id: string, options: OutputOptions): Promise<void> {
  const issuer = await withOperations((to) => to.issuers.find(id));
  const rows = [
    ['issuer', issuer.url],
    ['preset', issuer.preset ?? 'none'],
    ...(issuer.accountId === undefined ? [] : [['service account', issuer.accountId]]),
    ['algorithms', issuer.algorithms.join(' ') || 'none: it accepts no token'],
    ['lifetime', `${issuer.lifetimeSeconds} s`],
    ['replay', issuer.replay],
    ['id claims', issuer.idClaims.join(' ')],
    ['list claims', issuer.listClaims.join(' ') || 'none'],
    ['JWK set', issuer.jwks ? `fixed, ${plural(issuer.jwks.keys.length, 'key')}` : 'fetched'],
    ['keys', String(issuer.keys)],
    ['created', issuer.createdAt],
    ['updated', issuer.updatedAt],
  ];
  print(options, issuer, table(['id', String(issuer.id)], rows));
}

async function change(id: string, { fetch = false, ...options }: SettingOptions & { fetch?: boolean }): Promise<void> {
  if (fetch && options.jwks !== undefined) throw new UsageError('give --jwks or --fetch');
  const wanted: IssuerChangeBody = { ...settingsOf(options), ...(fetch && { jwks: null }) };
  if (Object.keys(wanted).length === 0) throw new UsageError('give at least one setting');
  const changed = await withOperations((to) => to.issuers.change(id, wanted));
  print(options, changed, `Changed the issuer ${changed.url} (${id}).`);
}

async function remove(id: string, options: OutputOptions & { yes?: boolean }): Promise<void> {
  const removed = await withOperations(async ({ issuers }) => {
    const { url, keys } = await issuers.find(id);
    await confirm(
      `Keys that trust the issuer ${url}: ${keys}. They get no more short-lived secrets. Remove it?`,
      options,
    );
    return issuers.remove(id);
  });
  const { url, keys } = removed;
  print(options, { id: removed.id, url, keys, removed: true }, [
    `Removed the issuer ${url} (${id}). Keys that trusted it: ${keys}.`,
  ]);
}

async function refresh(id: string, options: OutputOptions, setStatus: SetStatus): Promise<void> {
  const keySet = await withOperations((to) => to.issuers.refresh(id));
  const { keyIds, failure } = keySet;
  if (failure !== null) setStatus(1);
  const text =
    failure === null
      ? `The JWK set has ${plural(keyIds.length, 'key')}: ${keyIds.map((keyId) => keyId ?? 'without an id').join(', ')}.`
      : `The JWK set cannot be fetched: ${failure}.`;
  print(options, keySet, [text]);
}
