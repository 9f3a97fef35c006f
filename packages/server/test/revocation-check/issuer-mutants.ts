/** Broken builds with mistakes in issuers, in the trust of keys and in the exchange of identity tokens. */
import type { Edit, Mutant } from './mutant-edits.ts';

const state = 'modules/short-lived-secrets/state-store.ts';
const secrets = 'modules/short-lived-secrets/store.ts';
const exchange = 'modules/short-lived-secrets/token-exchange.ts';

const newestVersion: Edit = {
  file: secrets,
  find: `$8\${type}, $9\${type} from`,
  replace: `$8\${type}, coalesce((select i.version from issuers i where i.id = $8), $9\${type}) from`,
};

export const issuerMutants: readonly Mutant[] = [
  {
    name: 'a verification that does not compare the version of the issuer',
    edits: [
      {
        file: state,
        find: `i.version = s.issuer_version)`,
        replace: `i.id is not null)`,
      },
    ],
    faults: [],
  },
  {
    name: 'a secret whose issuer has been narrowed between the verification of its token and the insert',
    edits: [
      newestVersion,
      {
        file: secrets,
        find: `from issuers i where i.id = $8 and i.version = $9))`,
        replace: `from issuers i where i.id = $8))`,
      },
    ],
    faults: [],
  },
  {
    name: 'a removal of an issuer that leaves its secrets',
    edits: [
      {
        file: state,
        find: `i.version = s.issuer_version)`,
        replace: `coalesce(i.version, s.issuer_version) = s.issuer_version)`,
      },
    ],
    faults: [],
  },
  {
    name: 'a narrowing of an issuer without a new version',
    edits: [
      {
        file: 'modules/issuers/issuers.ts',
        find: `before.version + (narrowed.length > 0 ? 1 : 0)`,
        replace: `before.version`,
      },
    ],
    faults: [],
  },
  {
    name: 'a change of a trust that leaves the secrets of the previous one',
    edits: [
      {
        file: state,
        find: `or p.lookup is not null)`,
        replace: `or p.lookup is not null or s.issuer_id is not null)`,
      },
    ],
    faults: [],
  },
  {
    name: 'a token that two instances may use once each',
    edits: [
      {
        file: exchange,
        find: `if (!isFirst) throw`,
        replace: `if (!isFirst && !isInserted) throw`,
      },
    ],
    faults: [],
  },
  {
    name: 'a JWK set that is kept after a demand to fetch it anew',
    edits: [
      {
        file: 'modules/issuers/key-sets.ts',
        find: `if (fetched?.refreshes !== refreshes) return undefined;`,
        replace: `if (fetched === undefined || refreshes < 0) return undefined;`,
      },
    ],
    faults: [],
  },
  {
    name: 'an exchange that keeps issuers for 2 s',
    edits: [
      {
        file: exchange,
        find: `interface Request {`,
        replace: `const kept = new Map<number, { issuer: IssuerRow; until: number }>();\ninterface Request {`,
      },
      {
        file: exchange,
        find: `    const issuer = await findIssuer(db, issuerId);`,
        replace: `    const known = kept.get(issuerId);
    const issuer = known && Date.now() < known.until ? known.issuer : await findIssuer(db, issuerId);
    if (issuer && issuer !== known?.issuer) kept.set(issuerId, { issuer, until: Date.now() + 2000 });`,
      },
    ],
    faults: [],
  },
];
