/**
 * The rules by which a program judges a key: its expiry, its IP ranges and so on. A row states the lowest version of the rules
 * that it needs, so a program never accepts a key that a newer one rejects by a rule that only the newer one has.
 *
 * A release that adds such a rule raises `rulesVersion`, and stores it in each key to which the rule applies.
 */

/** The newest version that this program knows. */
export const rulesVersion = 2;

/** By what a key has. `trust`: it issues short-lived secrets that end with the version of an issuer. */
export const rulesOf = { any: 1, trust: 2 } as const;

/** SQL: whether this program may judge a key `k`. Each statement that accepts a credential of a key has this condition. */
export const mayJudge = `k.rules <= ${rulesVersion}`;
