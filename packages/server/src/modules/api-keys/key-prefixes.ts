/** The prefixes and the first environment that the database records, compared with the configuration. */
import type { Db } from '../../foundation/database/db.ts';
import { findFirstEnvironment } from '../../foundation/database/installation.ts';
import type { Environment } from './environments.ts';
import { listKeyPrefixes, type RecordedPrefix } from './store.ts';

/** The settings that decide which prefixes are accepted, and which ones new keys have. */
export interface PrefixSettings {
  readonly keyPrefix: string;
  readonly keyPrefixesAccepted: readonly string[];
  readonly environments: readonly Environment[];
}

/** One sentence for each prefix whose keys are rejected, for the log of `serve` and for `doctor`. */
export async function keyPrefixWarnings(db: Db, settings: PrefixSettings): Promise<readonly string[]> {
  const { keyPrefix, keyPrefixesAccepted, environments } = settings;
  const accepted = [keyPrefix, ...keyPrefixesAccepted, ...environments.map(({ prefix }) => prefix)];
  const further = environments.slice(1).map(({ name }) => name);
  return (await listKeyPrefixes(db)).flatMap(({ prefix, environment }) => {
    if (environment !== null && !further.includes(environment))
      return `KEYREEVE_ENVIRONMENTS does not list ${environment}: its keys, which begin with ${prefix}_, are rejected`;
    if (accepted.includes(prefix)) return [];
    return `KEYREEVE_KEY_PREFIXES_ACCEPTED does not list ${prefix}, which was the prefix of new keys earlier: keys that begin with ${prefix}_ are rejected; add ${prefix} to it`;
  });
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
  const mistakes: string[] = [];
  if (first && recordedFirst !== null && recordedFirst !== first.name)
    mistakes.push(
      `KEYREEVE_ENVIRONMENTS begins with ${first.name}, but the first environment of this installation is ${recordedFirst}, to which all keys without another environment belong: it must stay the first`,
    );
  const recorded = await listKeyPrefixes(db);
  const check = (prefix: string, environment: string | null): void => {
    const other = recorded.find((one) => one.prefix === prefix && one.environment !== environment);
    if (other) mistakes.push(conflictOf(other, first === undefined));
  };
  check(first?.prefix ?? keyPrefix, null);
  for (const { name, prefix } of further) check(prefix, name);
  return mistakes;
}

function conflictOf({ prefix, environment }: RecordedPrefix, isPlain: boolean): string {
  const owner = environment === null ? 'the first environment' : `the environment ${environment}`;
  const setting = isPlain ? `KEYREEVE_KEY_PREFIX is ${prefix}` : `KEYREEVE_ENVIRONMENTS contains the prefix ${prefix}`;
  return `${setting}, which belongs to ${owner}: keys of it were created with this prefix; choose another one`;
}
