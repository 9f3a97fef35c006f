/** An issuer with its settings as values, and the conversion from and to its row. */
import type { IssuerAlgorithm, IssuerReplay } from '@keyreeve/contract';
import type { IssuerRow } from './store.ts';

export interface IssuerSettings {
  /** Empty after a restore that repeated a narrowing: no token is accepted. */
  readonly algorithms: readonly IssuerAlgorithm[];
  readonly lifetimeSeconds: number;
  readonly replay: IssuerReplay;
  /** JSON pointers. */
  readonly idClaims: readonly string[];
  readonly listClaims: readonly string[];
  /** A fixed JWK set; null: it is fetched. */
  readonly jwks: { readonly keys: readonly object[] } | null;
}

type SettingColumns = Pick<IssuerRow, 'algorithms' | 'lifetimeSeconds' | 'replay' | 'idClaims' | 'listClaims' | 'jwks'>;

/** @param row as it was stored by {@link columnsOf} */
export const settingsOf = (row: SettingColumns): IssuerSettings => ({
  algorithms: algorithmsOf(row),
  lifetimeSeconds: row.lifetimeSeconds,
  replay: row.replay as IssuerReplay,
  idClaims: JSON.parse(row.idClaims) as string[],
  listClaims: JSON.parse(row.listClaims) as string[],
  jwks: row.jwks === null ? null : (JSON.parse(row.jwks) as { keys: object[] }),
});

export const algorithmsOf = ({ algorithms }: Pick<IssuerRow, 'algorithms'>): IssuerAlgorithm[] =>
  algorithms === '' ? [] : (algorithms.split(' ') as IssuerAlgorithm[]);

export const columnsOf = ({ jwks, ...settings }: IssuerSettings): SettingColumns => ({
  algorithms: settings.algorithms.join(' '),
  lifetimeSeconds: settings.lifetimeSeconds,
  replay: settings.replay,
  idClaims: JSON.stringify(settings.idClaims),
  listClaims: JSON.stringify(settings.listClaims),
  jwks: jwks === null ? null : JSON.stringify(jwks),
});

/** The members by which a change accepts fewer tokens than before. */
export function narrowedMembers(before: IssuerSettings, after: IssuerSettings): (keyof IssuerSettings)[] {
  const isLost = (lists: 'algorithms' | 'idClaims' | 'listClaims'): boolean =>
    before[lists].some((one) => !(after[lists] as readonly string[]).includes(one));
  const lists = (['algorithms', 'idClaims', 'listClaims'] as const).filter(isLost);
  return [
    ...lists,
    ...(after.lifetimeSeconds < before.lifetimeSeconds ? (['lifetimeSeconds'] as const) : []),
    ...(after.replay === 'once' && before.replay !== 'once' ? (['replay'] as const) : []),
    ...(hasLostKeys(before.jwks, after.jwks) ? (['jwks'] as const) : []),
  ];
}

/** A fetched set can have any keys, so a fixed one may lack some of them, and the other way around. */
function hasLostKeys(before: IssuerSettings['jwks'], after: IssuerSettings['jwks']): boolean {
  if (before === null || after === null) return before !== after;
  const left = new Set(after.keys.map((key) => JSON.stringify(key)));
  return before.keys.some((key) => !left.has(JSON.stringify(key)));
}

export function changedMembers(before: IssuerSettings, after: IssuerSettings): (keyof IssuerSettings)[] {
  const names = Object.keys(after) as (keyof IssuerSettings)[];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
