/** Ids that are numbers: those of API keys and issuers. Each is from 1 to 2^53 − 1. */
import { randomInt } from 'node:crypto';

const pattern = /^[1-9]\d{0,15}$/;

/** It has two parts because `randomInt` is limited to 2^48. */
export function randomNumberId(): number {
  const id = randomInt(2 ** 26) * 2 ** 27 + randomInt(2 ** 27);
  return id === 0 ? randomNumberId() : id;
}

/** @returns undefined for a text that is no id, or not in the only form of one */
export function numberIdOf(text: string): number | undefined {
  const id = pattern.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(id) ? id : undefined;
}
