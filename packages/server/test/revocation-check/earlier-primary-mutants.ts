/** Broken builds that accept what an earlier PostgreSQL primary returns, because of one realistic mistake. */
import type { Edit } from './mutant-edits.ts';

export interface EarlierPrimaryMutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** See `runEarlierPrimary`. */
  readonly isCutOff: boolean;
}

const proof = 'foundation/database/primary-proof.ts';
const writes = 'foundation/database/proof-writes.ts';

const timelineIgnored: readonly Edit[] = [
  {
    file: proof,
    find: `return this.#newest !== undefined && timeline < this.#newest.server.timeline;`,
    replace: `return this.#newest !== undefined && timeline < 0;`,
  },
  {
    file: proof,
    find: `  a.timeline === b.timeline && a.address === b.address && a.system === b.system;`,
    replace: `  a.system === b.system;`,
  },
];

export const earlierPrimaryMutants: readonly EarlierPrimaryMutant[] = [
  {
    name: 'a proof of the primary without a time limit',
    edits: [
      {
        file: proof,
        find: `const holds = (atMs: number): boolean => now - atMs <= this.#options.validMs;`,
        replace: `const holds = (atMs: number): boolean => now >= atMs;`,
      },
    ],
    isCutOff: true,
  },
  {
    name: 'a proof of the primary by a write that no standby has acknowledged',
    edits: [
      {
        file: writes,
        find: `      const lack = await this.#lackOfProof(client);`,
        replace: `      const lack = undefined as string | undefined;
      void this.#lackOfProof(client).catch(() => undefined);`,
      },
    ],
    isCutOff: true,
  },
  {
    name: 'a proof of a server of another timeline',
    edits: timelineIgnored,
    isCutOff: false,
  },
  {
    name: 'a promoted server that removes rights at once',
    edits: [
      {
        file: proof,
        find: `    if (!this.#newest) return this.#options.settleMs;`,
        replace: `    if (this.#newest) return 0;\n    if (!this.#newest) return this.#options.settleMs;`,
      },
    ],
    isCutOff: true,
  },
];
