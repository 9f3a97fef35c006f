/** The prefixes and the first environment that the database records, compared with the configuration. */
import { reservedPrefixes } from '@keyreeve/contract';
import type { Db } from '../../foundation/database/db.ts';
import { findFirstEnvironment } from '../../foundation/database/installation.ts';
import type { Environment } from './environments.ts';
import { listKeyPrefixes } from './store.ts';

/** The settings that decide which prefixes are accepted, and which ones new keys have. */
export interface PrefixSettings {
  readonly keyPrefix: string;
  readonly keyPrefixesAccepted: readonly string[];
  readonly environments: readonly Environment[];
}

/** All prefixes of keys that verification accepts, each once. The prefixes of environments are first. */
export const acceptedPrefixes = ({
  keyPrefix,
  keyPrefixesAccepted,
  environments,
}: PrefixSettings): readonly string[] => [
  ...new Set([...environments.map(({ prefix }) => prefix), keyPrefix, ...keyPrefixesAccepted]),
];

/**
 * One sentence for each prefix whose keys are rejected, for the log of `serve` and for `doctor`. If KEYREEVE_ENVIRONMENTS is
 * missing, the first sentence names it.
 */
export async function keyPrefixWarnings(db: Db, settings: PrefixSettings): Promise<readonly string[]> {
  const { environments } = settings;
  const accepted = acceptedPrefixes(settings);
  const further = environments.slice(1).map(({ name }) => name);
  const recordedFirst = environments.length === 0 ? await findFirstEnvironment(db) : null;
  // If it was removed by mistake, setting it again removes the warnings that follow.
  const missing =
    recordedFirst === null
      ? []
      : [`KEYREEVE_ENVIRONMENTS is not set, but keys were created with it; its first environment was ${recordedFirst}`];
  const ofPrefixes = (await listKeyPrefixes(db)).flatMap(({ prefix, environment }) => {
    if (environment !== null && !further.includes(environment))
      return `KEYREEVE_ENVIRONMENTS does not list ${environment}: its keys, which begin with ${prefix}_, are rejected`;
    if (accepted.includes(prefix)) return [];
    if (reservedPrefixes.includes(prefix))
      return `${prefix} was the prefix of new keys earlier, but this version reserves it for other credentials: keys that begin with ${prefix}_ are rejected; replace them`;
    return `KEYREEVE_KEY_PREFIXES_ACCEPTED does not list ${prefix}, which was the prefix of new keys earlier: keys that begin with ${prefix}_ are rejected; add ${prefix} to it`;
  });
  return ofPrefixes.length === 0 ? [] : [...missing, ...ofPrefixes];
}

/**
 * Keys without a stored environment belong to the first one, so another first one would change their environment. A prefix
 * belongs to one environment, so that it shows the environment of a key.
 * @returns one sentence for each reason why no key may be created with these settings
 */
export async function environmentMistakes(db: Db, settings: PrefixSettings): Promise<readonly string[]> {
  const { keyPrefix, environments } = settings;
  const [first, ...further] = environments;
  const recordedFirst = await findFirstEnvironment(db);
  if (first && recordedFirst !== null && recordedFirst !== first.name)
    return [
      `KEYREEVE_ENVIRONMENTS must begin with ${recordedFirst}, not with ${first.name}: all keys without another environment belong to the first one`,
    ];
  const recorded = await listKeyPrefixes(db);
  const conflictOf = (setting: string, prefix: string, environment: string | null): string[] => {
    const other = recorded.find((one) => one.prefix === prefix && one.environment !== environment);
    if (!other) return [];
    const owner = other.environment ?? recordedFirst ?? 'the first environment';
    return [`${setting}, but keys of ${owner} have this prefix: choose another one`];
  };
  const ofFirst = first
    ? conflictOf(`KEYREEVE_ENVIRONMENTS gives the prefix ${first.prefix} to ${first.name}`, first.prefix, null)
    : conflictOf(
        `${recordedFirst === null ? '' : 'KEYREEVE_ENVIRONMENTS is not set, and '}KEYREEVE_KEY_PREFIX is ${keyPrefix}`,
        keyPrefix,
        null,
      );
  const ofFurther = further.flatMap(({ name, prefix }) =>
    conflictOf(`KEYREEVE_ENVIRONMENTS gives the prefix ${prefix} to ${name}`, prefix, name),
  );
  return [...ofFirst, ...ofFurther];
}
