/** Imports API keys of another system by their SHA-256. */
import { withoutJoiners } from '../../foundation/joiners.ts';
import type { Principal } from '../../foundation/principal.ts';
import type { Core } from '../../foundation/core.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { readKey } from './key-line.ts';
import * as store from './key-store.ts';
import { numbered } from './nicknames.ts';
import { LineRejectedError, SeenLines, type Importer, type Numbered, type Outcome } from './run-import.ts';

export interface KeyImportOptions extends Core {
  readonly keyHash: KeyedHash;
  readonly keysPerAccountMax: number;
  readonly isDryRun: boolean;
  /** Whether keys in clear text are hashed here. Default: they are rejected. */
  readonly hasPlainKeys?: boolean;
  /** The prefixes of Keyreeve's own keys. */
  readonly keyPrefixes?: readonly string[];
  /** Ids of accounts here by their ids in the other system. */
  readonly accountIds?: ReadonlyMap<string, string>;
}

export function keyImporter(principal: Principal, options: KeyImportOptions): Importer<store.ImportedKey> {
  const { db, clock, keyHash, isDryRun, hasPlainKeys = false, keyPrefixes = [], accountIds = new Map() } = options;
  const hashes = new SeenLines('hash');
  const rules = new KeyRules(options.keysPerAccountMax, isDryRun);
  return {
    read(line, object, warn) {
      const lineOptions = { now: clock.now(), keyHash, hasPlainKeys, keyPrefixes, accountIds };
      const key = readKey(principal, object, lineOptions, warn);
      hashes.add(key.storedHash, line);
      return key;
    },
    async write(items: readonly Numbered<store.ImportedKey>[], warn): Promise<readonly Outcome[]> {
      const keys = items.map(({ item }) => item);
      const evaluate = (context: store.BatchContext): readonly KeyOutcome[] =>
        keys.map((key) => rules.evaluate(key, context));
      const outcomes = isDryRun
        ? evaluate(await store.findContext(db, keys))
        : await store.importKeys(db, { principal, now: clock.now() }, keys, evaluate);
      return outcomes.map(({ outcome, nickname }, index) => {
        if (nickname !== undefined && nickname !== keys[index]?.nickname)
          warn(index, 'the account has a key with this nickname, so the nickname gets a number');
        return outcome;
      });
    },
    traitsOf: ({ expiresAt, scopes }) => [
      ...(expiresAt === null ? [] : ['with an expiry']),
      ...(scopes.length === 0 ? [] : ['with scopes']),
    ],
  };
}

interface KeyOutcome {
  readonly outcome: Exclude<Outcome, 'updated' | 'changed'>;
  /** The one that the imported key gets. */
  readonly nickname?: string;
}

/** Decides which keys can be imported. In a dry run it also counts the keys that earlier lines would have added. */
class KeyRules {
  readonly #keysMax: number;
  readonly #isDryRun: boolean;
  readonly #nicknames = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(keysMax: number, isDryRun: boolean) {
    this.#keysMax = keysMax;
    this.#isDryRun = isDryRun;
  }

  /** After the outcome `imported`, the key counts towards its account's limit. */
  evaluate(key: store.ImportedKey, context: store.BatchContext): KeyOutcome {
    const owner = context.owners.get(key.account);
    if (!owner) return rejected('there is no such account');
    const holder = context.holderOf(key);
    if (holder !== undefined)
      return holder === owner.pk ? { outcome: 'existing' } : rejected('another account has a key with this hash');
    if (context.deletedIds.has(key.id)) return rejected('the key was deleted here; a deletion can’t be undone');
    if (context.hasLeaked(key)) return rejected('the secret was reported as leaked; replace it');
    if (owner.unverifiedSince !== null) return rejected('the account’s email is not verified');
    const added = this.#counts.get(owner.id) ?? 0;
    if (context.keyCountOf(owner.pk) + added >= this.#keysMax)
      return rejected(`the account already has ${this.#keysMax} keys`);
    const nickname = this.#free(owner.id, key.nickname, context);
    const name = `${owner.id} ${withoutJoiners(nickname)}`;
    if (this.#isDryRun) {
      this.#nicknames.add(name);
      this.#counts.set(owner.id, added + 1);
    } else context.addKey(owner.pk, name);
    return { outcome: 'imported', nickname };
  }

  /** @returns the nickname, with a number if the account has a key with it */
  #free(accountId: string, nickname: string, { nicknames }: store.BatchContext): string {
    let free = nickname;
    for (let number = 2; ; number++) {
      const name = `${accountId} ${withoutJoiners(free)}`;
      if (!nicknames.has(name) && !this.#nicknames.has(name)) return free;
      free = numbered(nickname, number);
    }
  }
}

const rejected = (reason: string): KeyOutcome => ({ outcome: new LineRejectedError(reason) });
