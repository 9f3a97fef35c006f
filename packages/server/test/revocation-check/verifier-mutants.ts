/** Broken builds with mistakes in processes that only verify. The main process of each of them has none. */
import type { Mutant } from './mutant-edits.ts';
import { keptOfKey } from './narrowing-mutants.ts';

export const verifierMutants: readonly Mutant[] = [
  {
    name: 'a verifier that keeps its results for 2 s',
    edits: [
      {
        file: 'app/processes/verifier.ts',
        find: `    await Promise.all([verifier.prepare(), loadLazyModules()]);`,
        replace: `    await Promise.all([verifier.prepare(), loadLazyModules()]);
    const kept = new Map();
    const uncached = verifier.startKeyVerification.bind(verifier);
    verifier.startKeyVerification = (text, conditions, answer, fail) => {
      const known = kept.get(text);
      if (known && monotonicMs() - known.at < 2_000) return answer(known.result);
      const keep = (result) => {
        if (result.valid) kept.set(text, { result, at: monotonicMs() });
        answer(result);
      };
      uncached(text, conditions, keep, fail);
    };`,
      },
    ],
    faults: [],
    database: 'embedded',
    verifiers: 1,
  },
  {
    name: 'a verifier that keeps the scopes that the catalogue withholds from a key, for 2 s',
    edits: keptOfKey('key.withheld', 'process.send !== undefined'),
    faults: [],
    environment: { KEYREEVE_SCOPES: 'catalogue' },
    verifiers: 1,
  },
];

const beforeTokens = 'export class Tokens {';

/** The revocation check rotates no signing keys: `verifiers.extended.test.ts` runs it. */
export const signingKeyMutant: Pick<Mutant, 'name' | 'edits'> = {
  name: 'a verifier that keeps the sessions and signing keys that it has read',
  edits: [
    {
      file: 'modules/tokens/tokens.ts',
      find: 'this.#sessionStates.read([sessionId, kid]),',
      replace: 'this.#keptState(sessionId, kid),',
    },
    {
      file: 'modules/tokens/tokens.ts',
      find: `${beforeTokens}\n`,
      replace: `${beforeTokens}
  readonly #kept = new Map<string, store.SessionState>();

  async #keptState(sessionId: string, kid: string): Promise<store.SessionState | undefined> {
    const known = this.#kept.get(sessionId + kid);
    if (known && process.send !== undefined) return known;
    const state = await this.#sessionStates.read([sessionId, kid]);
    if (state) this.#kept.set(sessionId + kid, state);
    return state;
  }

`,
    },
  ],
};
