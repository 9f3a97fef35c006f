/**
 * The work that a sign-in does for imported hashes, whether the account has one or not. Otherwise the response time would
 * reveal accounts that were imported. Each sign-in does the work of the costliest kind of each algorithm; a cheaper kind is
 * padded with hashes whose results are discarded. Units of different algorithms are not compared, because their ratio depends
 * on the machine. scrypt is padded with lanes: one hash of a larger N took 12 to 17 % longer than the costliest kind.
 */
import {
  algorithmOf,
  costOf,
  unitsOf,
  type ForeignKind,
  type ForeignRecipe,
  type PlainScheme,
} from './foreign-hash.ts';
import { decodeKind } from './stored-hash.ts';

/** The costliest kind of one algorithm, whose work every sign-in does. */
export interface MatchedKind {
  readonly algorithm: PlainScheme;
  readonly kind: ForeignKind;
}

/** Matched kinds cost at most as much as one hash that an import accepts: one to two seconds. */
const costMax = 1;
/** A fast hash beside the costliest one does not count. */
const costTolerance = 0.01;
const paddingSalt = Buffer.alloc(16);
const paddingDigestBytes = 16;

/** @param recipes stored forms before `keyid` @returns the algorithms whose work every sign-in does */
export function matchedKinds(recipes: readonly string[]): MatchedKind[] {
  const chosen = new Map<PlainScheme, ForeignKind>();
  let left = costMax + costTolerance;
  for (const kind of kindsOf(recipes)) {
    const algorithm = algorithmOf(kind.scheme);
    const before = chosen.get(algorithm);
    const added = costOf(kind) - (before ? costOf(before) : 0);
    if (added > left) continue;
    left -= added;
    chosen.set(algorithm, kind);
  }
  return [...chosen].map(([algorithm, kind]) => ({ algorithm, kind }));
}

/** How far the work of equal sign-ins would be beyond the bound. */
export interface WorkBeyondBound {
  /** Schemes whose sign-ins take longer than those of unknown accounts. */
  readonly schemes: readonly string[];
  /** The cost of equal work for all kinds, as a multiple of the bound. */
  readonly times: number;
}

/** @returns undefined if {@link matchedKinds} includes the work of all kinds */
export function workBeyondBound(recipes: readonly string[]): WorkBeyondBound | undefined {
  const kinds = kindsOf(recipes);
  const matched = new Map(matchedKinds(recipes).map(({ algorithm, kind }) => [algorithm, unitsOf(kind)]));
  const beyond = kinds.filter((kind) => unitsOf(kind) > (matched.get(algorithmOf(kind.scheme)) ?? 0));
  if (beyond.length === 0) return undefined;
  const costs = new Map(kinds.map((kind) => [algorithmOf(kind.scheme), costOf(kind)]));
  const times = [...costs.values()].reduce((sum, cost) => sum + cost, 0) / costMax;
  return { schemes: [...new Set(beyond.map(({ scheme }) => scheme))].toSorted(), times };
}

/** Known kinds, the cheapest first. An unknown one is of a later version, whose accounts cannot sign in here. */
const kindsOf = (recipes: readonly string[]): ForeignKind[] =>
  recipes
    .map(decodeKind)
    .filter((kind) => kind !== undefined)
    .toSorted((one, other) => costOf(one) - costOf(other));

/**
 * The hashes that add up to the work of the costliest kind, together with an own one.
 * @param largest a kind of the same algorithm @returns nothing if the own kind is as costly
 */
export function paddingOf(own: ForeignKind, largest: ForeignKind): ForeignRecipe[] {
  const missing = unitsOf(largest) - unitsOf(own);
  return missing <= 0
    ? []
    : shapesOf(own, largest, missing).map(([scheme, parameters]) => paddingRecipe(scheme, parameters));
}

type Shape = readonly [scheme: PlainScheme, parameters: Readonly<Record<string, number>>];

const paddingRecipe = (scheme: PlainScheme, parameters: Readonly<Record<string, number>>): ForeignRecipe => ({
  scheme,
  parameters,
  salt: paddingSalt,
  digestBytes: paddingDigestBytes,
});

/** Of the memory and lanes of the largest kind, because a unit of work costs more in more memory. */
function shapesOf(own: ForeignKind, largest: ForeignKind, missing: number): Shape[] {
  const algorithm = algorithmOf(own.scheme);
  const { m = 0, p = 1, n = 2, r = 1, c: largestCost = 0 } = largest.parameters;
  switch (algorithm) {
    case 'argon2d':
    case 'argon2i':
    case 'argon2id': {
      const passes = Math.floor(missing / m);
      const rest = missing % m;
      const whole: Shape[] = passes > 0 ? [[algorithm, { v: 19, m, t: passes, p }]] : [];
      return rest < 8 * p ? whole : [...whole, [algorithm, { v: 19, m: rest, t: 1, p }]];
    }
    case 'bcrypt':
    case 'bcrypt-wordpress': {
      // 2^c + (2^c + 2^(c+1) + … + 2^(C-1)) = 2^C
      const { c: cost = 0 } = own.parameters;
      return Array.from({ length: largestCost - cost }, (_, index) => ['bcrypt', { c: cost + index }]);
    }
    case 'scrypt': {
      const lanes = Math.floor(missing / (n * r));
      const whole: Shape[] = lanes > 0 ? [['scrypt', { n, r, p: lanes }]] : [];
      // One hash for each binary digit of the rest's N.
      return [
        ...whole,
        ...powersOf(Math.floor((missing % (n * r)) / r)).map((rest): Shape => ['scrypt', { n: rest, r, p: 1 }]),
      ];
    }
    default:
      return [[algorithm, { i: missing, o: 0 }]];
  }
}

/** The powers of two, from 2 on, that add up to the number. */
const powersOf = (number: number): number[] =>
  Array.from({ length: 31 }, (_, index) => 2 ** (index + 1)).filter((power) => Math.floor(number / power) % 2 === 1);
