/** Broken builds with mistakes in changes of keys: rotations, overlaps, scopes, IP ranges, enabling; and in the scope catalogue. */
import { beforeVerifier, delayedCommit, earlyResponse, type Edit, type Mutant } from './mutant-edits.ts';

const verifier = 'modules/verification/verify.ts';

/** In `verify.ts`: a function that keeps a value of each key for 2 s. */
const keep: Edit = {
  file: verifier,
  find: beforeVerifier,
  replace: `const kept = new Map<number, { value: any; until: number }>();
function keep(id: number, value: any): any {
  const found = kept.get(id);
  if (found && Date.now() < found.until) return found.value;
  kept.set(id, { value, until: Date.now() + 2000 });
  return value;
}
${beforeVerifier}`,
};

/** In `verify.ts`: a value of each key that is kept for 2 s. @param expression in terms of `key` */
const keptOfKey = (expression: string): readonly Edit[] => [
  keep,
  { file: verifier, find: expression, replace: `keep(key.id, ${expression})` },
];

const catalogue = { KEYREEVE_SCOPES: 'catalogue' } as const;
const readShortLived = `this.#shortLivedReader.find(this.#options.hash.stored(text), answerTo, fail, conditions.span);`;
const readPrevious = `this.#previousReader.find(hash, answerTo, fail, span)`;

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
        file: verifier,
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
        file: verifier,
        find: beforeVerifier,
        replace: `const previous = new Map<string, { key: any; until: number }>();\n${beforeVerifier}`,
      },
      {
        file: verifier,
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
        file: verifier,
        find: beforeVerifier,
        replace: `const disabled = new Map<number, number>();\n${beforeVerifier}`,
      },
      {
        file: verifier,
        find: `    if (key.accountDisabledAt !== null || key.disabledAt !== null) return this.#refuse('disabled');`,
        replace: `    if ((disabled.get(key.id) ?? 0) > Date.now()) return this.#refuse('disabled');
    if (key.disabledAt !== null) disabled.set(key.id, Date.now() + 2000);
    if (key.accountDisabledAt !== null || key.disabledAt !== null) return this.#refuse('disabled');`,
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
        file: verifier,
        find: beforeVerifier,
        replace: `let readAt = 0;\n${beforeVerifier}`,
      },
      {
        file: verifier,
        find: `    const expiresAt = endOf(key);\n`,
        replace: `    if (now - readAt > 8000) readAt = now;\n    const expiresAt = endOf(key);\n`,
      },
      {
        file: verifier,
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
        find: `const isIssuerValid = '(k.lookup = s.issued_by or p.lookup is not null)';`,
        replace: `const isIssuerValid = '(1 = 1)';`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache of short-lived secrets, of 2 s',
    edits: [
      {
        file: verifier,
        find: beforeVerifier,
        replace: `const states = new Map<string, { key: KeyState; until: number }>();\n${beforeVerifier}`,
      },
      {
        file: verifier,
        find: readShortLived,
        replace: `const found = states.get(text);
    if (found && Date.now() < found.until) return answerTo(found.key);
    const keepState = (key: KeyState | undefined): void => {
      if (key) states.set(text, { key, until: Date.now() + 2000 });
      answerTo(key);
    };
    this.#shortLivedReader.find(this.#options.hash.stored(text), keepState, fail);`,
      },
    ],
    faults: [],
  },
  {
    name: 'a verification that ignores a disabled key',
    edits: [
      {
        file: verifier,
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
        file: verifier,
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
