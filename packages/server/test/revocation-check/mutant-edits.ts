/** The edits that several broken builds share: caches of several kinds, and the places where they are put. */

export interface Edit {
  /** Below `packages/server/src/`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const lookUpKey = `else this.#reader.find(hash.stored(text), (key) => answer(this.#resultOfKey(key)), fail);`;
export const beforeVerifier = `export class Verifier {`;
export const deleteRow = `const deleted = await tx.get(deleteOwnKey, [id, accountId]);`;
export const unknownDeletion = `      if (isOutcomeUnknown(error)) {\n`;

/** In `verify.ts`: a cache, and what a verification does with it. */
export const cached = (lookUp: string): readonly Edit[] => [
  {
    file: 'modules/verification/verify.ts',
    find: beforeVerifier,
    replace: `const cache: Map<string, { result: any; at: number }> = ((globalThis as any).results = new Map());\n${beforeVerifier}`,
  },
  { file: 'modules/verification/verify.ts', find: lookUpKey, replace: lookUp },
];

export const readAndKeep = `this.#reader.find(hash.stored(text), (key) => {
      const result = this.#resultOfKey(key);
      if (result.valid) cache.set(text, { result, at: Date.now() });
      answer(result);
    }, fail);`;

/** In `verify.ts`: acceptances that something else has remembered, by the credential's text. */
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
      else this.#reader.find(hash.stored(text), (key) => answer(this.#resultOfKey(key)), fail);
    }`,
  },
];

const startBearer = `    if (presented.kind === 'bearer') verifier.startVerification(presented.text, answer, refuse);`;

/** In `forward.ts`: acceptances of some requests are remembered for 2 s. */
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
    else if (presented.kind === 'bearer') verifier.startVerification(presented.text, keep, refuse);`,
  },
];

const verifyCaller = `const result = text === undefined ? undefined : await verifier.verifyKey(text);`;

/** In `authenticate.ts`: acceptances of callers are remembered for 5 s. */
export const rememberedCallers = (which: string): readonly Edit[] => [
  {
    file: 'app/authenticate.ts',
    find: verifyCaller,
    replace: `const callers: Map<string, { result: any; until: number }> = ((globalThis as any).callers ??= new Map());
  const found = ${which} && text !== undefined ? callers.get(text) : undefined;
  const isFresh = found !== undefined && Date.now() < found.until;
  const result: VerificationResult | undefined = isFresh ? found.result : text === undefined ? undefined : await verifier.verifyKey(text);
  if (${which} && text !== undefined && result?.valid && !isFresh) callers.set(text, { result, until: Date.now() + 5000 });`,
  },
];

/** Listens for announced deletions on a connection of its own, which is made again when it breaks. */
export const listener = `import pg from 'pg';
import { sql } from '../../foundation/database/sql.ts';
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
    for (const [text, { result }] of cache) if (String(result.keyId) === payload) cache.delete(text);
  });
  client.connect().then(() => client.query('listen deleted')).catch(again);
}
listen();`;
