/** What a broken build is, and edits that several share: caches of several kinds, and the places in the sources where they are inserted. */
import type { Environment } from '../e2e/program.ts';
import type { Fault } from './faults.ts';

export interface Edit {
  /** Below `packages/server/src/`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The faults that reveal the mistake; empty if it shows without faults. */
  readonly faults: readonly Fault[];
  readonly database?: 'embedded';
  readonly environment?: Environment;
  /** Processes of each instance that only verify. Default: none. */
  readonly verifiers?: number;
}

const narrowingFile = 'modules/deletion-journal/run-narrowing.ts';
const lookUpKey = `else this.#keys.start(text, conditions, answer, fail);`;
export const beforeVerifier = `export class Verifier {`;
export const deleteRow = `const deleted = tx.get(deleteOwnKey, [id, accountId, principal.kind === 'portal' ? 1 : 0]);`;
const endOfDeletion = `of: () => [{ id, kind: 'delete', txs: [finishTx] }] },
    });`;

/** In `api-keys.ts`. @param code after the recorded deletion, or a method of its promise */
export const afterDeletion = (code: string): Edit => ({
  file: 'modules/api-keys/api-keys.ts',
  find: endOfDeletion,
  replace: `${endOfDeletion.slice(0, -1)}${code}`,
});

/**
 * As {@link afterDeletion}, without the repetition of a deletion of unknown outcome, which would end most violations before a probe of a
 * slow machine.
 */
export const unrepeatedDeletion = (code: string): Edit => ({
  ...afterDeletion(code),
  replace: `of: () => [] },\n    })${code}`,
});

/** A response that precedes its commit. @param file that makes the change */
export const earlyResponse = (file: string): readonly Edit[] => [
  {
    file,
    find: `runNarrowing(this.#options, {`,
    replace: `runNarrowing({ ...this.#options, isEarly: true } as any, {`,
  },
  {
    file: narrowingFile,
    find: `{ db, revocations }: `,
    replace: `{ db, revocations, isEarly = false }: { readonly isEarly?: boolean } & `,
  },
  {
    file: narrowingFile,
    find: `      made = await db.transaction(
        async (tx) => {`,
    replace: `    {
      const early = Promise.withResolvers<Made>();
      const committed = db.transaction(
        async (tx) => {`,
  },
  {
    file: narrowingFile,
    find: `          return tried.made;
        },
        { isLong },
      );`,
    replace: `          if (isEarly) early.resolve(tried.made);
          return tried.made;
        },
        { isLong },
      );
      committed.then(early.resolve, early.reject);
      made = await early.promise;
    }`,
  },
  {
    file: narrowingFile,
    find: `    if ('perform' in change) made = await change.perform(db);`,
    replace: `    if (isEarly && 'perform' in change) {
      const early = Promise.withResolvers<any>();
      const perform = ({ runTx }: any, input: any) =>
        db.transaction(async (tx) => early.resolve(await runTx(tx, input)));
      change.perform({ perform } as any).then(early.resolve, early.reject);
      made = await early.promise;
    } else if ('perform' in change) made = await change.perform(db);`,
  },
];

/** In `verify.ts`: a cache. @param lookUp the code that verifies a key with it */
export const cached = (lookUp: string): readonly Edit[] => [
  {
    file: 'modules/verification/verify.ts',
    find: beforeVerifier,
    replace: `const cache: Map<string, { result: any; at: number }> = ((globalThis as any).results = new Map());\n${beforeVerifier}`,
  },
  { file: 'modules/verification/verify.ts', find: lookUpKey, replace: lookUp },
];

export const readAndKeep = `this.#keys.start(text, conditions, (result) => {
      if (result.valid) cache.set(text, { result, at: Date.now() });
      answer(result);
    }, fail);`;

/** In `verify.ts`: a cache of accepted keys by their text, which other code fills. */
export const remembered: readonly Edit[] = [
  {
    file: 'modules/verification/verify.ts',
    find: beforeVerifier,
    replace: `const remembered: Map<string, { result: any; until: number }> = ((globalThis as any).remembered = new Map());\n${beforeVerifier}`,
  },
  {
    file: 'modules/verification/verify.ts',
    find: lookUpKey,
    replace: `else {
      const found = remembered.get(text);
      if (found && Date.now() < found.until) answer(found.result);
      else this.#keys.start(text, conditions, answer, fail);
    }`,
  },
];

const startBearer = `    if (presented.kind === 'bearer') verifier.startVerification(presented.text, conditions, answer, fail);`;

/** In `forward.ts`: a cache of 2 s for some requests. @param which an expression that is true for these */
export const rememberedForwards = (which: string): readonly Edit[] => [
  {
    file: 'modules/verification/forward.ts',
    find: `/** For the Allow of a 405;`,
    replace: `const forwards = new Map<string, { result: any; until: number }>();\n/** For the Allow of a 405;`,
  },
  {
    file: 'modules/verification/forward.ts',
    find: startBearer,
    replace: `    const found = ${which} ? forwards.get(presented.text) : undefined;
    const keep = (result: VerificationResult): void => {
      if (${which} && result.valid) forwards.set(presented.text, { result, until: Date.now() + 2000 });
      answer(result);
    };
    if (found && Date.now() < found.until) answer(found.result);
    else if (presented.kind === 'bearer') verifier.startVerification(presented.text, conditions, keep, fail);`,
  },
];

/** In `short-path.ts`: a 200 is repeated for the same bytes for 2 s. */
export const repeatedResponses: readonly Edit[] = [
  {
    file: 'http/short-path.ts',
    find: `export class ShortPath {`,
    replace: `const repeated = new Map<string, { again: (to: any) => void; until: number }>();\nexport class ShortPath {`,
  },
  {
    file: 'http/short-path.ts',
    find: `    if (this.#options.handle(request, response)) return;`,
    replace: `    const text = bytes.toString('latin1');
    const known = repeated.get(text);
    const to = { writeHead: response.writeHead.bind(response), write: response.write.bind(response) };
    const keep = (again: (to: any) => void) => repeated.set(text, { again, until: Date.now() + 2000 });
    response.writeHead = (status, pairs) => {
      if (status === 200) keep((other) => other.writeHead(200, [...pairs]).end());
      return to.writeHead(status, pairs);
    };
    response.write = (lines, body) => {
      keep((other) => other.write(lines, body));
      to.write(lines, body);
    };
    if (known && Date.now() < known.until) return known.again(to);
    if (this.#options.handle(request, response)) return;`,
  },
];

const verifyCaller = `  authenticators.verifier.startKeyVerification(text, conditions, answer, fail);`;

/** In `service-caller.ts`: a cache of callers, of 5 s. @param which an expression that is true for requests that use it */
export const rememberedCallers = (which: string): readonly Edit[] => [
  {
    file: 'app/service-caller.ts',
    find: verifyCaller,
    replace: `  const callers: Map<string, { key: any; until: number }> = ((globalThis as any).callers ??= new Map());
  const found = ${which} ? callers.get(text) : undefined;
  const keep = (key: VerificationResult): void => {
    if (${which} && key.valid) callers.set(text, { key, until: Date.now() + 5000 });
    answer(key);
  };
  if (found && Date.now() < found.until) answer(found.key);
  else authenticators.verifier.startKeyVerification(text, conditions, keep, fail);`,
  },
];

/** Clears the cache after notifications of deletions, on its own connection, which it reopens after an error. */
export const listener = `import pg from 'pg';
import { sql } from '../../foundation/database/sql.ts';
const selectDisabled = sql<{ at: number | null }>('select_disabled', \`select disabled_at as at from accounts where id = $1\`);
function listen(): void {
  const client = new pg.Client({ connectionString: process.env['KEYREEVE_DATABASE_URL'], ssl: false });
  let isOver = false;
  // Once: a refused connection emits several events.
  const again = (): void => {
    if (!isOver) setTimeout(listen, 50);
    isOver = true;
  };
  client.on('error', again).on('end', again);
  client.on('notification', ({ payload }) => {
    for (const [text, { result }] of cache) if (String(result.keyId) === payload) cache.delete(text);
  });
  client.connect().then(() => client.query('listen deleted')).catch(again);
}
listen();`;

/** In `postgres.ts`: shared reads from a snapshot that is up to 100 ms old. */
export const laggingReplica: readonly Edit[] = [
  {
    file: 'foundation/database/postgres.ts',
    find: `await this.#readFrom(this.#readers, statement, columns);`,
    replace: `await orUnavailable(this.replica().then(async (client) => {
        const { Batch, BatchItem } = await import('./postgres-batch.ts');
        const item = new BatchItem(statement, columns, true);
        await new Batch([item], 10_000).run(client);
        return item.rows ?? [];
      }));`,
  },
  {
    file: 'foundation/database/postgres.ts',
    find: `  #isClosing = false;\n`,
    replace: `  #isClosing = false;
  lagging: Promise<pg.PoolClient> | undefined;
  replica(): Promise<pg.PoolClient> {
    this.lagging ??= this.#readers.connect().then(async (client) => {
      await client.query('begin isolation level repeatable read; select count(*) from accounts');
      setTimeout(() => {
        this.lagging = undefined;
        void client.query('commit').catch(() => undefined).finally(() => client.release());
      }, 100);
      return client;
    });
    this.lagging.catch(() => (this.lagging = undefined));
    return this.lagging;
  }\n`,
  },
];

/** A group commit of 100 ms on the embedded database. */
export const delayedCommit: Edit = {
  file: 'foundation/database/sqlite-commits.ts',
  find: `      committingMs = monotonicMs();\n`,
  replace: `      await new Promise((resolve) => setTimeout(resolve, 100));\n      committingMs = monotonicMs();\n`,
};
