/** The settings of a program: their rules, and which changes remove rights. */
import { isProgramId, limits, type NewProgramBody, type Program, type ProgramChangeBody } from '@keyreeve/contract';
import { toInstant } from '../../foundation/clock.ts';
import { DomainError, invalidAt } from '../../foundation/errors.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import type { Principal } from '../../foundation/principal.ts';
import { hasReservedScope, splitScopes, validateScopes } from '../api-keys/scopes.ts';
import type { CountedProgramRow, ProgramRow } from './store.ts';

export type ProgramSettings = Pick<ProgramRow, 'name' | 'scopes' | 'lifetimeSeconds'>;

/**
 * @param body its members have the types of the contract; other callers than HTTP may exceed the bounds
 * @throws DomainError `invalid_request`, `nickname_invalid`, `scope_invalid`, `reserved_scope`
 */
export function newSettings(principal: Principal, body: NewProgramBody): ProgramSettings {
  if (!isProgramId(body.id))
    throw invalidAt(
      '/id',
      `Expected at most ${limits.programIdCharsMax} lower-case letters, digits, hyphens, dots and underscores.`,
    );
  const { name, scopes = [], lifetimeSeconds = limits.programLifetimeSeconds } = body;
  return checked(principal, { name, scopes, lifetimeSeconds });
}

/** @throws DomainError as {@link newSettings} */
export function changedSettings(principal: Principal, before: ProgramRow, body: ProgramChangeBody): ProgramSettings {
  const { name = before.name, scopes = splitScopes(before.scopes), lifetimeSeconds } = body;
  if (lifetimeSeconds === undefined)
    return { ...checked(principal, { name, scopes }), lifetimeSeconds: before.lifetimeSeconds };
  return checked(principal, { name, scopes, lifetimeSeconds });
}

function checked(
  principal: Principal,
  given: { readonly name: string; readonly scopes: readonly string[]; readonly lifetimeSeconds?: number },
): ProgramSettings {
  const { lifetimeSeconds = limits.programLifetimeSeconds } = given;
  const { programLifetimeSecondsMin: min, programLifetimeSecondsMax: max } = limits;
  if (hasReservedScope(given.scopes))
    throw new DomainError('reserved_scope', {
      detail: 'A key that a program gets cannot have scopes that begin with `keyreeve:`.',
    });
  if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds < min || lifetimeSeconds > max)
    throw invalidAt('/lifetimeSeconds', `Expected ${min} to ${max} seconds.`);
  const scopes = validateScopes(principal, '', given.scopes).join(' ');
  return { name: validateNickname(given.name, '/name'), scopes, lifetimeSeconds };
}

const members = ['name', 'scopes', 'lifetimeSeconds'] as const;

export const changedMembers = (before: ProgramSettings, after: ProgramSettings): readonly string[] =>
  members.filter((name) => before[name] !== after[name]);

/** For a repetition of a change: without the members that have changed since, by this change or by a later one. */
export function withoutReplaced(
  { name, scopes, lifetimeSeconds }: ProgramChangeBody,
  before: ProgramSettings,
  found: ProgramSettings,
): ProgramChangeBody {
  const replaced = changedMembers(before, found);
  return {
    ...(name !== undefined && !replaced.includes('name') && { name }),
    ...(scopes && !replaced.includes('scopes') && { scopes }),
    ...(lifetimeSeconds !== undefined && !replaced.includes('lifetimeSeconds') && { lifetimeSeconds }),
  };
}

/** The members whose change removes rights. */
export function narrowedMembers(before: ProgramSettings, after: ProgramSettings): readonly string[] {
  const kept = splitScopes(after.scopes);
  return [
    ...(splitScopes(before.scopes).some((scope) => !kept.includes(scope)) ? ['scopes'] : []),
    ...(after.lifetimeSeconds < before.lifetimeSeconds ? ['lifetimeSeconds'] : []),
  ];
}

export const toProgram = (row: CountedProgramRow): Program => ({
  id: row.id,
  name: row.name,
  scopes: [...splitScopes(row.scopes)],
  lifetimeSeconds: row.lifetimeSeconds,
  keys: row.keyCount,
  createdAt: toInstant(row.createdAt),
  updatedAt: toInstant(row.updatedAt),
});
