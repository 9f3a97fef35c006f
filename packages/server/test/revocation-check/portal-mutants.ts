/** Broken builds with mistakes in portal sessions: in the reads of requests, in ends, and in what a session depends on. */
import type { Mutant } from './mutant-edits.ts';

const sessions = 'modules/portal/sessions.ts';

export const portalMutants: readonly Mutant[] = [
  {
    name: 'a cache of portal sessions, of 2 s',
    edits: [
      {
        file: sessions,
        find: `export class PortalSessions {`,
        replace: `const kept = new Map<string, { row: any; until: number }>();\nexport class PortalSessions {`,
      },
      {
        file: sessions,
        find: `    const row = hash && (await this.#reader.read([this.#options.clock.now(), hash]));\n`,
        replace: `    const text = hash?.toString('hex') ?? '';
    const found = kept.get(text);
    const row = found && Date.now() < found.until ? found.row : hash && (await this.#reader.read([this.#options.clock.now(), hash]));
    if (row && row !== found?.row) kept.set(text, { row, until: Date.now() + 2000 });\n`,
      },
    ],
    faults: [],
  },
  {
    name: 'an end of a portal session that is only recorded',
    edits: [
      {
        file: sessions,
        find: `      const accountId = await deleteTx(tx);\n`,
        replace: `      const accountId = (await store.findPortalSession(tx, id, at))?.serviceAccountId;\n`,
      },
    ],
    faults: [],
  },
  {
    name: 'a portal session that stays valid while the account of its backend is disabled',
    edits: [
      {
        file: 'modules/service-accounts/acting-store.ts',
        find: `  return \`a.disabled_at is null and k.disabled_at is null`,
        replace: `  return \`k.disabled_at is null`,
      },
    ],
    faults: [],
  },
];
