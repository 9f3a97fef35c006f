/** The edits that several broken builds share: caches of several kinds, and the places where they are put. */

export interface Edit {
  /** Below `packages/server/src/`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const judgeByReading = `else this.#reader.find(hash.stored(text), (key) => answer(this.#judgeState(key)), fail);`;
export const beforeVerifier = `export class Verifier {`;
export const deleteRow = `const deleted = await tx.get(deleteOwnKey, [id, accountId]);`;
export const unknownDeletion = `      if (isOutcomeUnknown(error)) {\n`;

/** In `verify.ts`: a cache, and what a verification does with it. */
export const cached = (judge: string): readonly Edit[] => [
  {
    file: 'modules/verification/verify.ts',
    find: beforeVerifier,
    replace: `const cache: Map<string, { verdict: any; at: number }> = ((globalThis as any).verdicts = new Map());\n${beforeVerifier}`,
  },
  { file: 'modules/verification/verify.ts', find: judgeByReading, replace: judge },
];

export const readAndKeep = `this.#reader.find(hash.stored(text), (key) => {
      const verdict = this.#judgeState(key);
      if (verdict.valid) cache.set(text, { verdict, at: Date.now() });
      answer(verdict);
    }, fail);`;

/** In `verify.ts`: acceptances that something else has remembered, by the credential's text. */
export const remembered: readonly Edit[] = [
  {
    file: 'modules/verification/verify.ts',
    find: beforeVerifier,
    replace: `const remembered: Map<string, { verdict: any; until: number }> = ((globalThis as any).remembered = new Map());\n${beforeVerifier}`,
  },
  {
    file: 'modules/verification/verify.ts',
    find: judgeByReading,
    replace: `else {
      const found = remembered.get(text);
      if (found && Date.now() < found.until) answer(found.verdict);
      else this.#reader.find(hash.stored(text), (key) => answer(this.#judgeState(key)), fail);
    }`,
  },
];

const judgeBearer = `    if (presented.kind === 'bearer') verifier.judge(presented.text, answer, refuse);`;

/** In `forward.ts`: acceptances of some requests are remembered for 2 s. */
export const rememberedForwards = (which: string): readonly Edit[] => [
  {
    file: 'modules/verification/forward.ts',
    find: `/** For the Allow of a 405;`,
    replace: `const forwards = new Map<string, { verdict: any; until: number }>();\n/** For the Allow of a 405;`,
  },
  {
    file: 'modules/verification/forward.ts',
    find: judgeBearer,
    replace: `    const found = ${which} ? forwards.get(presented.text) : undefined;
    const keep = (verdict: Verdict): void => {
      if (${which} && verdict.valid) forwards.set(presented.text, { verdict, until: Date.now() + 2000 });
      answer(verdict);
    };
    if (found && Date.now() < found.until) answer(found.verdict);
    else if (presented.kind === 'bearer') verifier.judge(presented.text, keep, refuse);`,
  },
];

const verifyCaller = `const verdict = text === undefined ? undefined : await verifier.verifyKey(text);`;

/** In `authenticate.ts`: acceptances of callers are remembered for 5 s. */
export const rememberedCallers = (which: string): readonly Edit[] => [
  {
    file: 'app/authenticate.ts',
    find: verifyCaller,
    replace: `const callers: Map<string, { verdict: any; until: number }> = ((globalThis as any).callers ??= new Map());
  const found = ${which} && text !== undefined ? callers.get(text) : undefined;
  const isFresh = found !== undefined && Date.now() < found.until;
  const verdict: Verdict | undefined = isFresh ? found.verdict : text === undefined ? undefined : await verifier.verifyKey(text);
  if (${which} && text !== undefined && verdict?.valid && !isFresh) callers.set(text, { verdict, until: Date.now() + 5000 });`,
  },
];

/** Listens for announced deletions on a connection of its own, which is made again when it breaks. */
export const listener = `import pg from 'pg';
import { sql } from '../db/sql.ts';
const selectDisabled = sql<{ at: number | null }>('select_disabled', \`select disabled_at as at from accounts where id = $1\`);
function listen(): void {
  const client = new pg.Client({ connectionString: process.env['KEYREEVE_DATABASE_URL'], ssl: false });
  let isOver = false;
  // Once: a connection that is refused reports it in several ways.
  const again = (): void => {
    if (!isOver) setTimeout(listen, 50);
    isOver = true;
  };
  client.on('error', again).on('end', again);
  client.on('notification', ({ payload }) => {
    for (const [text, { verdict }] of cache) if (String(verdict.keyId) === payload) cache.delete(text);
  });
  client.connect().then(() => client.query('listen deleted')).catch(again);
}
listen();`;
