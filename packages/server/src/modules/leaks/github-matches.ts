/** Reads the body of a report by GitHub, after its signature was verified. */
import { GithubMatches, limits, type GithubMatch } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { parseJson } from '../../foundation/json.ts';
import { validator } from '../../http/validation.ts';
import type { LeakSource } from './leaks.ts';

const validate = validator(GithubMatches);

const hostCharsMax = 253;
const hostPattern = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/;
/** The URL of a file: `/<owner>/<name>/blob/…`. GitHub bounds owners to 39 and names to 100 characters. */
const repositoryPattern = /^\/([\w.-]{1,64}\/[\w.-]{1,100})(?:\/|$)/;
const githubHost = 'github.com';

/** @throws DomainError `malformed_json`, `invalid_request`, and `body_too_large` for too many matches */
export function parseMatches(body: Uint8Array): readonly GithubMatch[] {
  const value = parseJson(body);
  if (Array.isArray(value) && value.length > limits.githubMatchesMax)
    throw new DomainError('body_too_large', {
      detail: `The body has more than ${limits.githubMatchesMax} matches.`,
    });
  return validate(value) as readonly GithubMatch[];
}

/**
 * Where a secret was found, for the audit log. The rest of the URL is dropped: it may contain anything.
 * @param url may be empty, malformed or of another type
 * @returns undefined without a valid host
 */
export function sourceOf(url: unknown): LeakSource | undefined {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  const host = parsed?.hostname ?? '';
  if (parsed?.protocol !== 'https:' || host.length > hostCharsMax || !hostPattern.test(host)) return undefined;
  const repository = host === githubHost ? repositoryPattern.exec(parsed.pathname)?.[1] : undefined;
  return { host, ...(repository === undefined ? {} : { repository }) };
}
