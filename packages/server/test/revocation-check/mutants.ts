/**
 * Broken builds of the program: each accepts deleted keys, or violates another rule, because of one realistic mistake. A build
 * consists of textual edits. A test fails if the text of an edit does not occur exactly once, so that no build goes untested.
 */
import { faults, slowDatabase } from './faults.ts';
import {
  afterDeletion,
  unrepeatedDeletion,
  beforeVerifier,
  delayedCommit,
  deleteRow,
  earlyResponse,
  cached,
  readAndKeep,
  remembered,
  rememberedForwards,
  rememberedCallers,
  repeatedResponses,
  listener,
  laggingReplica,
  type Mutant,
} from './mutant-edits.ts';
import { issuerMutants } from './issuer-mutants.ts';
import { narrowingMutants } from './narrowing-mutants.ts';
import { portalMutants } from './portal-mutants.ts';
import { programMutants } from './program-mutants.ts';
import { verifierMutants } from './verifier-mutants.ts';

const beforeImported = `export class ImportedKeys {`;

export const mutants: readonly Mutant[] = [
  {
    name: 'a positive cache of 100 ms',
    edits: cached(`else {
      const found = cache.get(text);
      if (found && Date.now() - found.at < 100) answer(found.result);
      else ${readAndKeep}
    }`),
    faults: [],
  },
  {
    name: 'a cache of 2 s that the creation of a key over HTTP fills',
    edits: [
      ...remembered,
      {
        file: 'modules/api-keys/api-keys.ts',
        find: `    return { ...key, secret: made.secret };`,
        replace: `    const { id: keyId, nickname, scopes, expiresAt, createdAt: issuedAt } = key;
    if (principal.kind === 'account')
      (globalThis as any).remembered?.set(made.secret.reveal(), {
        result: { valid: true, type: 'api_key', accountId, keyId, nickname, scopes: scopes.join(' '), expiresAt, issuedAt },
        until: Date.now() + 2000,
      });
    return { ...key, secret: made.secret };`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache of callers, of 5 s',
    edits: rememberedCallers('true'),
    faults: [],
  },
  {
    name: 'a cache of callers that authenticate by Basic, of 5 s',
    edits: rememberedCallers('client !== undefined'),
    faults: [],
  },
  {
    name: 'a response to a service that does not depend on the verification of its own key',
    edits: [
      {
        file: 'app/service-caller.ts',
        find: `const fail = (error: unknown): void => caller.fail(error);`,
        replace: `const fail = (_error: unknown): void => caller.know(undefined);`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache of 2 s for paths below /auth/forward',
    edits: rememberedForwards(`request.url?.startsWith('/auth/forward/') === true`),
    faults: [],
  },
  {
    name: 'a cache of 2 s for other methods than GET on /auth/forward',
    edits: rememberedForwards(`request.method !== 'GET'`),
    faults: [],
  },
  {
    name: 'a cache of 2 s in the short path of connections that stay open',
    edits: repeatedResponses,
    faults: [],
  },
  {
    name: 'a cache of imported keys, of 2 s',
    edits: [
      {
        file: 'modules/verification/imported-keys.ts',
        find: beforeImported,
        replace: `const imported = new Map<string, { result: any; until: number }>();\n${beforeImported}`,
      },
      {
        file: 'modules/verification/imported-keys.ts',
        find: `    const find = (): void => this.#keys.find(this.#options.hash.stored(text), conditions, answer, fail);`,
        replace: `    const found = imported.get(text);
    if (found && Date.now() < found.until) return answer(found.result);
    const find = (): void =>
      this.#keys.find(this.#options.hash.stored(text), conditions, (result) => {
        if (result.valid) imported.set(text, { result, until: Date.now() + 2000 });
        answer(result);
      }, fail);`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache that a deletion clears only on its own instance',
    edits: [
      ...cached(`else {
      const found = cache.get(text);
      if (found) answer(found.result);
      else ${readAndKeep}
    }`),
      {
        file: 'modules/api-keys/deletion-store.ts',
        find: deleteRow,
        replace: `${deleteRow}\n  for (const [text, { result }] of (globalThis as any).results ?? []) if (result.keyId === id) (globalThis as any).results.delete(text);`,
      },
    ],
    faults: [],
  },
  {
    name: 'a cache that notifications clear, and that keeps its entries after a lost connection',
    edits: [
      ...cached(`else {
      const found = cache.get(text);
      // Reads the account each time, because notifications announce only deletions.
      if (found) void db.get(selectDisabled, [found.result.accountId]).then((row: any) => answer(row?.at === null ? found.result : this.#results.refuse('disabled')), fail);
      else ${readAndKeep}
    }`).map((edit) => ({ ...edit, replace: edit.replace.replace(beforeVerifier, `${listener}\n${beforeVerifier}`) })),
      {
        file: 'modules/verification/verify.ts',
        find: `const { keyPrefixes } = this.#options;`,
        replace: `const { keyPrefixes, db } = this.#options;`,
      },
      {
        file: 'modules/api-keys/deletion-store.ts',
        find: deleteRow,
        replace: `${deleteRow}\n  await tx.get(sql<never>('announce', \`select pg_notify('deleted', $1::text)\`), [String(id)]);`,
      },
      // Without faults, every instance receives the notification within this time.
      afterDeletion(`;\n    await new Promise((resolve) => setTimeout(resolve, 200));`),
    ],
    faults: [faults.refused, faults.refused, faults.refused],
  },
  {
    name: 'a coalescing reader whose lookups join a read in progress',
    edits: [
      {
        file: 'foundation/database/coalescing-reader.ts',
        find: `    this.#waiting.push({ lookup, onRow, onError, span });`,
        replace: `    const joined = this.sent.get(JSON.stringify(lookup));
    if (joined) return void joined.push({ lookup, onRow, onError, span });
    this.#waiting.push({ lookup, onRow, onError, span });`,
      },
      {
        file: 'foundation/database/coalescing-reader.ts',
        find: `  #readsInProgress = 0;`,
        replace: `  sent = new Map<string, Waiting<Lookup, Row>[]>();\n  #readsInProgress = 0;`,
      },
      {
        file: 'foundation/database/coalescing-reader.ts',
        find: `    this.#readsInProgress++;\n`,
        replace: `    this.#readsInProgress++;
    const joining = batch.map(({ lookup }) => {
      const joined: Waiting<Lookup, Row>[] = [];
      this.sent.set(JSON.stringify(lookup), joined);
      return joined;
    });\n`,
      },
      {
        file: 'foundation/database/coalescing-reader.ts',
        // Nothing joins while the callbacks run: it would never get its row.
        find: `for (const [index, waiting] of batch.entries()) deliver(waiting, rows[index]);`,
        replace: `for (const { lookup } of batch) this.sent.delete(JSON.stringify(lookup));
      for (const [index, waiting] of batch.entries())
        for (const one of [waiting, ...(joining[index] ?? [])]) deliver(one, rows[index]);`,
      },
      {
        file: 'foundation/database/coalescing-reader.ts',
        find: `for (const { onError } of [...batch, ...this.#waiting.splice(0)]) onError(error);`,
        replace: `for (const { lookup } of batch) this.sent.delete(JSON.stringify(lookup));
      for (const { onError } of [...batch, ...joining.flat(), ...this.#waiting.splice(0)]) onError(error);`,
      },
    ],
    // On a slow machine, a deletion through the other instance takes longer than a read that is delayed by `faults.slow`.
    faults: Array.from({ length: 6 }, () => slowDatabase(250)),
  },
  {
    name: 'reads from a replica that lags by up to 100 ms',
    edits: laggingReplica,
    faults: [],
  },
  {
    name: 'a deletion whose response precedes its commit',
    edits: earlyResponse('modules/api-keys/api-keys.ts'),
    faults: [faults.cutBefore],
  },
  {
    name: 'a transaction that is acknowledged when its commit has been sent',
    edits: [
      {
        file: 'foundation/database/postgres-transaction.ts',
        find: `    await this.#send(new BatchItem(commitStatement, [], false));`,
        replace: `    void this.#send(new BatchItem(commitStatement, [], false));`,
      },
    ],
    faults: [faults.cutBefore],
  },
  {
    name: 'a deletion with an unknown outcome that returns success',
    edits: [
      unrepeatedDeletion(`.catch((error: unknown) => {
      if (!(error instanceof DomainError && error.options.isOutcomeUnknown)) throw error;
    });`),
    ],
    faults: [faults.cutBefore],
  },
  {
    name: 'a deletion with an unknown outcome that returns not found',
    edits: [
      unrepeatedDeletion(`.catch((error: unknown) => {
      const isUnknown = error instanceof DomainError && error.options.isOutcomeUnknown;
      throw isUnknown ? new DomainError('key_not_found') : error;
    });`),
    ],
    faults: [faults.cutBefore],
  },
  {
    name: 'a repeated deletion that returns success',
    edits: [
      afterDeletion(`.catch((error: unknown) => {
      if (!(error instanceof DomainError && error.code === 'key_not_found')) throw error;
    });`),
    ],
    faults: [],
  },
  {
    name: 'a verification that ignores a disabled account',
    edits: [
      {
        file: 'modules/verification/results.ts',
        find: `if (key.accountDisabledAt !== null || key.disabledAt !== null) return`,
        replace: 'if (key.disabledAt !== null) return',
      },
    ],
    faults: [],
  },
  {
    name: 'results of a batch that belong to its other credentials',
    edits: [
      {
        file: 'modules/verification/verify.ts',
        find: `results[index] = result;`,
        replace: `results[(index + 1) % questions.length] = result;`,
      },
    ],
    faults: [],
  },
  {
    name: 'rows of a shared read that belong to its other lookups',
    edits: [
      {
        file: 'foundation/database/postgres.ts',
        find: `results[row.ordinal - 1] = row;`,
        replace: `results[row.ordinal % results.length] = row;`,
      },
    ],
    faults: [],
  },
  {
    name: 'the last known state while the database is unreachable',
    edits: cached(`else this.#keys.start(text, conditions, (result) => {
      cache.set(text, { result, at: Date.now() });
      answer(result);
    }, (error) => {
      const found = cache.get(text);
      if (found) answer(found.result);
      else fail(error);
    });`),
    faults: [faults.refused, faults.refused],
  },
  {
    name: 'acknowledged commits that a crash may lose',
    edits: [
      {
        file: 'foundation/database/postgres-connection.ts',
        find: `  case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
    then set_config('synchronous_commit', 'on', false) end\``,
        replace: `  set_config('synchronous_commit', 'off', false)\``,
      },
      {
        file: 'foundation/database/postgres-transaction.ts',
        find: `     case when current_setting('synchronous_commit') in ('off', 'local', 'remote_write')
       then set_config('synchronous_commit', 'on', true) end\``,
        replace: `     set_config('synchronous_commit', 'off', true)\``,
      },
    ],
    faults: Array.from({ length: 8 }, () => faults.databaseCrashed),
  },
  {
    name: 'a deletion without its audit event',
    edits: [
      {
        file: 'modules/api-keys/deletion-store.ts',
        find: `  await recordEventTx(tx, { at: now, principal, action: 'api_key.deleted', accountId, target: String(id), details });\n`,
        replace: `  await details;\n`,
      },
    ],
    faults: [],
  },
  {
    // Only deletions: with early responses to sign-ins, the program would reject every new session, and no key would be deleted.
    name: 'a deletion whose response precedes a group commit of 100 ms (embedded)',
    edits: [
      {
        file: 'foundation/database/sqlite-commits.ts',
        find: `resolve: resolve as (value: unknown) => void, reject, isLong }, reject);`,
        replace: `resolve: resolve as (value: unknown) => void, reject, isLong, isEarly: share.workClass === 'narrowing' } as any, reject);`,
      },
      {
        file: 'foundation/database/sqlite-commits.ts',
        find: `            : callInSavepoint(writer, next.work),`,
        replace: `            : callInSavepoint(writer, next.work, (next as any).isEarly ? next.resolve : () => undefined),`,
      },
      {
        file: 'foundation/database/sqlite-commits.ts',
        find: `called: CalledProcedure): Outcome {`,
        replace: `called: CalledProcedure, early: (value: unknown) => void): Outcome {`,
      },
      {
        file: 'foundation/database/sqlite-commits.ts',
        find: `  const released = writer.issue(['release']);`,
        replace: `  void value.then(early, () => undefined);\n  const released = writer.issue(['release']);`,
      },
      delayedCommit,
    ],
    faults: [],
    database: 'embedded',
  },
  ...verifierMutants,
  ...narrowingMutants,
  ...issuerMutants,
  ...programMutants,
  ...portalMutants,
];
