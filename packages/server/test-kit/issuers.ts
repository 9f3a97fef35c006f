/** Issuers of identity tokens in the database of a test. */
import { issuerDefaults, issuerPresets, type IssuerPreset } from '@keyreeve/contract';
import { randomInt } from 'node:crypto';
import type { Db } from '../src/foundation/database/db.ts';
import { findIssuersFor, insertIssuerTx, type IssuerRow } from '../src/modules/issuers/store.ts';

export interface NewIssuer {
  readonly url: string;
  readonly accountId?: string | null;
  /** Supplies the other members. */
  readonly preset?: keyof typeof issuerPresets;
  readonly replay?: 'once' | 'until-exp';
  readonly idClaims?: readonly string[];
  readonly listClaims?: readonly string[];
  readonly algorithms?: readonly string[];
  readonly lifetimeSeconds?: number;
  readonly jwks?: object;
}

/** @returns its id */
export async function addIssuer(db: Db, of: NewIssuer): Promise<number> {
  const preset: IssuerPreset = of.preset === undefined ? issuerDefaults : issuerPresets[of.preset];
  const id = randomInt(1, 2 ** 47);
  const row: IssuerRow = {
    id,
    accountId: of.accountId ?? null,
    url: of.url,
    preset: of.preset ?? null,
    algorithms: (of.algorithms ?? preset.algorithms).join(' '),
    lifetimeSeconds: of.lifetimeSeconds ?? 3_600,
    replay: of.replay ?? preset.replay,
    idClaims: JSON.stringify(of.idClaims ?? preset.idClaims),
    listClaims: JSON.stringify(of.listClaims ?? preset.listClaims),
    jwks: of.jwks === undefined ? null : JSON.stringify(of.jwks),
    version: 1,
    refreshes: 0,
    createdAt: 1,
    updatedAt: 1,
  };
  const isAdded = await db.transaction((tx) => insertIssuerTx(tx, row));
  if (!isAdded) throw new Error(`There is an issuer ${of.url}: ${(await findIssuersFor(db, '', of.url)).length}`);
  return id;
}
