/** Broken builds with mistakes in changes of keys: rotations, overlaps, scopes, IP ranges, enabling; and in the scope catalogue. */
import { delayedCommit, earlyResponse, type Edit, type Mutant } from './mutant-edits.ts';

const results = 'modules/verification/results.ts';
const beforeResults = `export class Results {`;

/** In `results.ts`: a function that keeps a value of each key for 2 s. */
const keep: Edit = {
  file: results,
  find: beforeResults,
  replace: `const kept = new Map<number, { value: any; until: number }>();
function keep(id: number, value: any): any {
  const found = kept.get(id);
  if (found && Date.now() < found.until) return found.value;
  kept.set(id, { value, until: Date.now() + 2000 });
  return value;
}
${beforeResults}`,
};

/** In `results.ts`: a value of each key that is kept for 2 s, if the condition is true. @param expression in terms of `key` */
export const keptOfKey = (expression: string, condition = 'true'): readonly Edit[] => [
  keep,
  { file: results, find: expression, replace: `(${condition} ? keep(key.id, ${expression}) : ${expression})` },
];

const catalogue = { KEYREEVE_SCOPES: 'catalogue' } as const;
const readShortLived = `this.#reader.find(this.#options.hash.stored(text), answerTo, fail, conditions.span);`;
const readPrevious = `this.#previousReader.find(hash, answerTo, fail, conditions.span)`;

export const narrowingMutants: readonly Mutant[] = [
  {
    name: 'a change of a key whose response precedes a group commit of 100 ms (embedded)',
    edits: [...earlyResponse('modules/api-keys/changes.ts'), delayedCommit],
    faults: [],
    database: 'embedded',
  },
  {
    name: 'a previous secret that is valid while its key is disabled',
    edits: [
      {
        file: results,
        find: `key.disabledAt !== null) return`,
        replace: `(key.disabledAt !== null && key.overlapEndsAt === null)) return`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache of previous secrets, of 2 s, that a deletion of the key does not clear',
    edits: [
      {
        file: 'modules/verification/keys.ts',
        find: `export class Keys {`,
        replace: `const previous = new Map<string, { key: any; until: number }>();\nexport class Keys {`,
      },
      {
        file: 'modules/verification/keys.ts',
        find: readPrevious,
        replace: `(() => {
      const text = hash.toString('hex');
      const found = previous.get(text);
      if (found && Date.now() < found.until) return answerTo(found.key);
      this.#previousReader.find(hash, (key) => {
        if (key) previous.set(text, { key, until: Date.now() + 2000 });
        answerTo(key);
      }, fail);
    })()`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache of the scopes of a key, of 2 s',
    edits: keptOfKey('scopesInForce(key.scopes, key.needsRole === 1, key.ownerRole)'),
    faults: [],
  },
  {
    name: 'a cache of rejected keys, of 2 s',
    edits: [
      {
        file: results,
        find: beforeResults,
        replace: `const disabled = new Map<number, number>();\n${beforeResults}`,
      },
      {
        file: results,
        find: `    if (key.accountDisabledAt !== null || key.disabledAt !== null) return this.refuse('disabled');`,
        replace: `    if ((disabled.get(key.id) ?? 0) > Date.now()) return this.refuse('disabled');
    if (key.disabledAt !== null) disabled.set(key.id, Date.now() + 2000);
    if (key.accountDisabledAt !== null || key.disabledAt !== null) return this.refuse('disabled');`,
      },
    ],
    faults: [],
  },
  {
    name: 'the end of an overlap that is not compared',
    edits: [
      {
        file: 'modules/api-keys/state-store.ts',
        find: `overlapEndsAt === null ? expiresAt : endOfPrevious(overlapEndsAt, expiresAt);`,
        replace: `overlapEndsAt === null ? expiresAt : (expiresAt ?? null);`,
      },
    ],
    faults: [],
  },
  {
    name: 'an overlap and an expiry that are compared with a clock that is read every 8 s',
    edits: [
      {
        file: results,
        find: beforeResults,
        replace: `let readAt = 0;\n${beforeResults}`,
      },
      {
        file: results,
        find: `    const expiresAt = endOf(key);\n`,
        replace: `    if (now - readAt > 8000) readAt = now;\n    const expiresAt = endOf(key);\n`,
      },
      {
        file: results,
        find: `expiryTime(clock, key.readAt)`,
        replace: `readAt`,
      },
    ],
    faults: [],
  },
  {
    name: 'a rotation without an overlap that leaves the replaced secret valid',
    edits: [
      {
        file: 'modules/api-keys/rotation-plan.ts',
        find: `const previousExpiresAt = overlapEnd > now ? overlapEnd : null;`,
        replace: `const previousExpiresAt = overlapEnd > now ? overlapEnd : now + 86_400_000;`,
      },
    ],
    faults: [],
  },
  {
    name: 'a rotation with endCurrent that ends the previous secret instead of the current one',
    edits: [
      {
        file: 'modules/api-keys/rotation-plan.ts',
        find: `      store.replaceSecretTx(tx, before, secret, at);`,
        replace: `      store.storeRotationTx(tx, before, { ...secret, previousExpiresAt: before.previousExpiresAt }, at);`,
      },
    ],
    faults: [],
  },
  {
    name: 'an end of the previous secret that is only recorded',
    edits: [
      {
        file: 'modules/api-keys/changes.ts',
        find: `      store.endPreviousTx(tx, id, at);\n`,
        replace: ``,
      },
    ],
    faults: [],
  },
  {
    name: 'a report of a leak whose response precedes a group commit of 100 ms (embedded)',
    edits: [...earlyResponse('modules/leaks/leaks.ts'), delayedCommit],
    faults: [],
    database: 'embedded',
  },
  {
    name: 'a report of a leak that does not end a previous secret',
    edits: [
      {
        file: 'modules/api-keys/leak-store.ts',
        find: `    tx.enqueue(endPrevious, [keyId, lookupOf(Buffer.from(leaked.hash, 'hex'))]);\n`,
        replace: ``,
      },
    ],
    faults: [],
  },
  {
    name: 'a short-lived secret that stays valid after the end of the public key that issued it',
    edits: [
      {
        file: 'modules/short-lived-secrets/state-store.ts',
        find: `(k.lookup = s.issued_by or p.lookup is not null)`,
        replace: `(1 = 1)`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache of short-lived secrets, of 2 s',
    edits: [
      {
        file: 'modules/verification/short-lived-secrets.ts',
        find: `export class ShortLivedSecrets {`,
        replace: `const states = new Map<string, { key: KeyState; until: number }>();\nexport class ShortLivedSecrets {`,
      },
      {
        file: 'modules/verification/short-lived-secrets.ts',
        find: readShortLived,
        replace: `const found = states.get(text);
    if (found && Date.now() < found.until) return answerTo(found.key);
    const keepState = (key: KeyState | undefined): void => {
      if (key) states.set(text, { key, until: Date.now() + 2000 });
      answerTo(key);
    };
    this.#reader.find(this.#options.hash.stored(text), keepState, fail);`,
      },
    ],
    faults: [],
  },
  {
    name: 'a verification that ignores a disabled key',
    edits: [
      {
        file: results,
        find: `key.accountDisabledAt !== null || key.disabledAt !== null) return`,
        replace: `key.accountDisabledAt !== null) return`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache of the IP ranges of a key, of 2 s',
    edits: [
      keep,
      {
        file: results,
        find: `    if (key.addresses !== null) {`,
        replace: `    key = { ...key, addresses: keep(key.id, key.addresses) };\n    if (key.addresses !== null) {`,
      },
    ],
    faults: [],
  },
  {
    name: 'a client IP that is the leftmost entry of X-Forwarded-For',
    edits: [
      {
        file: 'http/client-ip.ts',
        find: `of forwardedFor(rawHeaders).toReversed()) {`,
        replace: `of forwardedFor(rawHeaders).slice(0, 1)) {`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache of the scopes that the catalogue withholds from a key, of 2 s',
    edits: keptOfKey('key.withheld'),
    faults: [],
    environment: catalogue,
  },
  {
    name: 'a verification that ignores entitlements',
    edits: [
      {
        file: 'modules/scope-catalogue/withheld.ts',
        find: `s.name <> all (string_to_array(coalesce(a.entitlements, ''), ' '))`,
        replace: `false`,
      },
    ],
    faults: [],
    environment: catalogue,
  },
  {
    name: 'a verification that ignores the deletion of a scope (embedded)',
    edits: [
      {
        file: 'modules/scope-catalogue/withheld.ts',
        find: `where s.deleted_at is not null or s.needs_entitlement = 1
       and instr`,
        replace: `where s.needs_entitlement = 1
       and instr`,
      },
    ],
    faults: [],
    database: 'embedded',
    environment: catalogue,
  },
  {
    name: 'a removal of an entitlement whose response precedes a group commit of 100 ms (embedded)',
    edits: [...earlyResponse('modules/scope-catalogue/entitlements.ts'), delayedCommit],
    faults: [],
    database: 'embedded',
    environment: catalogue,
  },
  {
    name: 'a change of a scope whose response precedes a group commit of 100 ms (embedded)',
    edits: [...earlyResponse('modules/scope-catalogue/scope-catalogue.ts'), delayedCommit],
    faults: [],
    database: 'embedded',
    environment: catalogue,
  },
];
