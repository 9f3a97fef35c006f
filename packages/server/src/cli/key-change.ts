/** `keyreeve key show`, `change`, `rotate` and `end-previous`: one API key, for an operator. */
import { Option } from 'commander';
import { limits, type KeyDetails } from '@keyreeve/contract';
import { systemClock } from '../foundation/clock.ts';
import { DomainError } from '../foundation/errors.ts';
import { nameOfKind, type GivenIdentity } from '../modules/api-keys/client-identity.ts';
import type { KeyChangeRequest, RotationRequest } from '../modules/api-keys/key-request.ts';
import type { RecentUse } from '../modules/key-usage/key-usage.ts';
import { labelOf } from './account-text.ts';
import type { CliCommand } from './command.ts';
import { parseCount } from './count.ts';
import { UsageError } from './failure.ts';
import { ownerOption, parseMetadata } from './key-input.ts';
import { lastUseOf, stateOf } from './key-text.ts';
import { parseLimits, quotaText, rateText, withLimitChanges, type LimitChangeOptions } from './limit-options.ts';
import { collect, print, table, type OutputOptions } from './output.ts';
import type { KeyOperations, KeyOwner, NamedKey } from './operations/keys.ts';
import { withOperations } from './operations/operations.ts';
import { publicKeyOption, readPublicKey } from './public-key-file.ts';
import { parseTrustOptions, withTrust, type TrustOptions } from './trust-options.ts';
import { parseTime } from './time.ts';

interface KeyOptions extends OutputOptions {
  readonly account?: string;
}

interface ChangeOptions extends KeyOptions, LimitChangeOptions {
  readonly nickname?: string;
  readonly scope?: readonly string[];
  readonly clearScopes?: true;
  readonly expiresAt?: string;
  readonly clearExpiresAt?: true;
  readonly address?: readonly string[];
  readonly clearAddresses?: true;
  readonly metadata?: string;
  readonly clearMetadata?: true;
  readonly disable?: true;
  readonly enable?: true;
}

interface RotateOptions extends KeyOptions, TrustOptions {
  readonly overlap?: string;
  readonly endPrevious?: true;
  readonly endCurrent?: true;
  readonly publicKey?: string;
}

/** Adds the commands that read or change one key. */
export function addChangeCommands(key: CliCommand): void {
  const forOne = (name: string): CliCommand =>
    key
      .command(name)
      .remote('management_key')
      .argument('<id>', 'id of the key')
      .option(...ownerOption);
  forOne('show')
    .description('Show an API key: its state, restrictions, limits, last use and previous secret.')
    .json()
    .examples('keyreeve key show 3920480220219155')
    .action(show);
  withLimitChanges(withChanges(forOne('change')))
    .description(
      'Change an API key. A change that removes rights applies to every later verification, on every instance.',
    )
    .json()
    .examples(
      'keyreeve key change 3920480220219155 --address 203.0.113.0/24 --address 2001:db8::/32',
      'keyreeve key change 3920480220219155 --scope orders:read --clear-expires-at',
      'keyreeve key change 3920480220219155 --rate 600/minute --burst 100 --clear-quota',
      'keyreeve key change 3920480220219155 --disable',
    )
    .action(change);
  withTrust(forOne('rotate'), ['publicKey'])
    .description('Replace the secret, the public key or the trust of an API key. A new secret is printed only once.')
    .option(
      '--overlap <seconds>',
      `how long the previous secret stays valid, up to ${limits.rotationOverlapSecondsMax} (default: ${limits.rotationOverlapSeconds}, one day)`,
    )
    .option(
      '--end-previous',
      'end the previous secret of an earlier rotation immediately; clients that still use it fail',
    )
    .addOption(
      new Option(
        '--end-current',
        'end the current secret, which was lost, and keep the previous one until its overlap ends',
      ).conflicts(['overlap', 'endPrevious']),
    )
    .addOption(publicKeyOption('file with the new public key, for a key that has one'))
    .json()
    .examples(
      'keyreeve key rotate 3920480220219155',
      'keyreeve key rotate 3920480220219155 --overlap 0 --end-previous',
      'keyreeve key rotate 3920480220219155 --end-current',
      'keyreeve key rotate 3920480220219155 --public-key payroll-2.pem',
      'keyreeve key rotate 3920480220219155 --github-repository-id 4711 --ref refs/heads/release',
    )
    .action(rotate);
  forOne('end-previous')
    .description('End the previous secret, public key or trust of a rotated API key, before its overlap ends.')
    .json()
    .examples('keyreeve key end-previous 3920480220219155')
    .action(endPrevious);
}

const withChanges = (command: CliCommand): CliCommand =>
  command
    .option('--nickname <nickname>', 'new name, unique in the account')
    .option('--scope <scope>', 'scope of the key (repeatable; replaces all scopes)', collect)
    .addOption(new Option('--clear-scopes', 'remove all scopes').conflicts('scope'))
    .option('--expires-at <time>', 'time of expiry in RFC 3339')
    .addOption(new Option('--clear-expires-at', 'remove the expiry').conflicts('expiresAt'))
    .option('--address <range>', 'IP address or CIDR range of clients (repeatable; replaces all ranges)', collect)
    .addOption(new Option('--clear-addresses', 'accept the key from any IP address').conflicts('address'))
    .option('--metadata <json>', 'JSON object; sets the members that it names, and null removes a member')
    .addOption(new Option('--clear-metadata', 'remove the metadata').conflicts('metadata'))
    .option('--disable', 'reject the key until it is enabled')
    .addOption(new Option('--enable', 'accept the key again').conflicts('disable'));

async function show(text: string, options: KeyOptions): Promise<void> {
  const shown = await withKey(text, options, async (keys, key) => ({
    details: await keys.read(key),
    use: await keys.recentUse(key),
    owner: await keys.owner(key.owner),
  }));
  const { id, ...details } = shown.details;
  print(options, { id, accountId: shown.owner.id, ...details }, table(['id', String(id)], rowsOf(shown)));
}

interface ShownKey {
  readonly details: KeyDetails;
  readonly use: RecentUse | undefined;
  readonly owner: KeyOwner;
}

function rowsOf({ details: key, use, owner }: ShownKey): string[][] {
  const state = stateOf(key, systemClock.now());
  const { previous } = key;
  return [
    ['nickname', key.nickname],
    ['account', labelOf(owner)],
    ...(key.environment === null ? [] : [['environment', key.environment]]),
    ...identityRows(key),
    ['state', key.disabledAt === null ? state : `disabled at ${key.disabledAt} (${key.disabledReason})`],
    ...(key.leakedAt === null ? [] : [['leaked', `${key.leakedAt}: rotate the key`]]),
    ['expires', key.expiresAt ?? 'never'],
    ['scopes', key.scopes.join(' ') || 'none'],
    ['addresses', key.addresses?.join(' ') ?? 'any'],
    ['rate', rateText(key.limits?.rate)],
    ['quota', quotaText(key.limits?.quota, key.quotaUse)],
    ['metadata', key.metadata === null ? 'none' : JSON.stringify(key.metadata)],
    ['created', key.createdAt],
    ['changed', key.updatedAt],
    ['last used', use ? lastUseOf(use) : 'not known'],
    ...(use?.lastDay ? [['last 24 hours', `${use.lastDay.accepted} accepted, ${use.lastDay.refused} refused`]] : []),
    [`previous ${nameOfKind(key)}`, previous === null ? 'none' : stateOfPrevious(previous)],
  ];
}

function identityRows({ publicKey, trust, hint }: KeyDetails): string[][] {
  if (publicKey !== null) return [['public key', JSON.stringify(publicKey)]];
  if (trust === null) return [['hint', hint ?? 'not known']];
  return [
    ['issuer', trust.issuerState === 'removed' ? `${trust.issuer} (removed: no token is accepted)` : trust.issuer],
    ['claims', JSON.stringify(trust.claims)],
    ['audience', trust.audience],
  ];
}

/** The previous secret of an expired key has expired with it. */
function stateOfPrevious({ expiresAt, lastUsedAt }: NonNullable<KeyDetails['previous']>): string {
  const isExpired = Date.parse(expiresAt) <= systemClock.now();
  return `${isExpired ? 'expired at' : 'valid until'} ${expiresAt}, last used ${lastUsedAt ?? 'never'}`;
}

async function change(text: string, options: ChangeOptions): Promise<void> {
  const request = requestOf(options);
  if (Object.keys(request).length === 0) throw new UsageError('name a change, for example --disable; see --help');
  const { details, isChanged } = await withKey(text, options, (keys, key) =>
    keys.change(key, request).catch((error: unknown) => {
      throw withOptions(error, key.id);
    }),
  );
  const name = `API key ${details.id} (${details.nickname})`;
  print(options, details, [isChanged ? `Changed ${name}.` : `${name} already has these values.`]);
}

function requestOf(options: ChangeOptions): KeyChangeRequest {
  const { nickname, scope, expiresAt, address, metadata } = options;
  const scopes = options.clearScopes ? [] : scope;
  const addresses = options.clearAddresses ? null : address;
  const limitsPatch = parseLimits(options);
  return {
    ...(nickname === undefined ? {} : { nickname }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(expiresAt === undefined ? {} : { expiresAt: parseTime(expiresAt, '--expires-at') }),
    ...(options.clearExpiresAt ? { expiresAt: null } : {}),
    ...(addresses === undefined ? {} : { addresses }),
    ...(Object.keys(limitsPatch).length === 0 ? {} : { limits: limitsPatch }),
    ...(metadata === undefined ? {} : { metadata: parseMetadata(metadata) }),
    ...(options.clearMetadata ? { metadata: null } : {}),
    ...(options.disable || options.enable ? { disabled: options.disable === true } : {}),
  };
}

async function rotate(text: string, options: RotateOptions): Promise<void> {
  const overlap = parseCount('--overlap', options.overlap, limits.rotationOverlapSecondsMax, 0);
  const request: RotationRequest = options.endCurrent
    ? { endCurrent: true }
    : { overlapSeconds: overlap ?? limits.rotationOverlapSeconds, endPrevious: options.endPrevious === true };
  const jwk = options.publicKey === undefined ? undefined : readPublicKey(options.publicKey);
  const given = { publicKey: jwk, trust: parseTrustOptions(options) };
  const kind = nameOfGiven(given);
  const { isDisabled, key, ...rotated } = await withKey(text, options, (keys, named) =>
    keys.rotate(named, request, given).catch((error: unknown) => {
      throw withOptions(error, named.id, kind);
    }),
  );
  const { id, nickname, createdAt, updatedAt, previousExpiresAt } = rotated;
  const value = { id, nickname, ...(key === undefined ? {} : { key }), createdAt, updatedAt, previousExpiresAt };
  const previous = previousExpiresAt === null ? 'has ended' : `is valid until ${previousExpiresAt}`;
  const lines = [
    `Rotated API key ${id} (${nickname}).`,
    ...(key === undefined
      ? [`The previous ${kind} ${previous}.`]
      : [`Key: ${key}`, `It is shown only once. The previous secret ${previous}.`]),
    ...(isDisabled ? [`The key is still disabled. To enable it: keyreeve key change ${id} --enable`] : []),
  ];
  print(options, value, lines);
}

/** The meanings in the registry name HTTP requests. @returns the error with the options of the command */
function withOptions(error: unknown, id: number, kind = 'secret'): unknown {
  if (!(error instanceof DomainError)) return error;
  const {
    code,
    options: { errors = [] },
  } = error;
  if (code === 'overlap_in_progress')
    return new DomainError(code, {
      detail: `The previous ${kind} of API key ${id} is still valid. Wait until its overlap ends, or add --end-previous, which ends it immediately.`,
    });
  if (code === 'no_overlap_in_progress')
    return new DomainError(code, {
      detail: `API key ${id} has no previous secret that is valid. To end the current secret, use --overlap 0.`,
    });
  if (code === 'invalid_request' && kind === 'secret')
    for (const [pointer, what, option] of required)
      if (errors.some((one) => one.pointer === pointer))
        return new DomainError(code, { detail: `API key ${id} has a ${what}. Add ${option} with the new one.` });
  if (code === 'key_leaked')
    return new DomainError(code, {
      detail: `The current secret of API key ${id} was reported as leaked and has ended. Rotate the key: keyreeve key rotate ${id}`,
    });
  return error;
}

const required = [
  ['/publicKey', 'public key', '--public-key'],
  ['/trust', 'trust', '--trust'],
] as const;

const nameOfGiven = ({ publicKey, trust }: GivenIdentity): string =>
  nameOfKind({ publicKey: publicKey ?? null, trust: trust ?? null });

async function endPrevious(text: string, options: KeyOptions): Promise<void> {
  const { id, kind } = await withKey(text, options, async (keys, key) => ({
    id: key.id,
    ...(await keys.endPrevious(key)),
  }));
  print(options, { id, previousEnded: true }, `Ended the previous ${kind} of API key ${id}.`);
}

const withKey = <T>(
  text: string,
  { account }: KeyOptions,
  run: (keys: KeyOperations, key: NamedKey) => Promise<T>,
): Promise<T> => withOperations(async ({ keys }) => run(keys, await keys.find(text, account)));
