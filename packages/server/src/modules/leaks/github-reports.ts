/**
 * Reports of GitHub secret scanning: verifies the signature of the body, ends the secrets among the matches, and labels each
 * match for GitHub.
 */
import { createHash } from 'node:crypto';
import { limits, type GithubLabel, type GithubMatch } from '@keyreeve/contract';
import { tooMany } from '../../foundation/database/fair-queue.ts';
import type { FindPublicKey } from './github-keys.ts';
import { parseMatches, sourceOf } from './github-matches.ts';
import { parseSignature, verifySignature, type GithubSignature } from './github-signature.ts';
import type { Leaks } from './leaks.ts';

export interface GithubReportsOptions {
  readonly leaks: Pick<Leaks, 'hasFormat' | 'report'>;
  readonly keys: FindPublicKey;
  readonly inProgressMax?: number;
}

export class GithubReports {
  readonly #options: GithubReportsOptions;
  #inProgress = 0;

  constructor(options: GithubReportsOptions) {
    this.#options = options;
  }

  /**
   * Resolves when all secrets among the matches are ended. The label depends only on the format of a text, so it does not
   * disclose whether a key with this text exists.
   * @throws DomainError `invalid_signature`, `malformed_json`, `invalid_request`, `body_too_large`, `too_many_in_progress`,
   *   `unavailable`
   */
  async report(body: Uint8Array, signature: GithubSignature): Promise<readonly GithubLabel[]> {
    const { leaks, keys, inProgressMax = limits.githubReportsInProgressMax } = this.#options;
    const { keyId, der } = parseSignature(signature);
    verifySignature(await keys.find(keyId), body, der);
    // Each holds a body of up to 1 MiB. Only GitHub occupies a slot, because the signature was verified.
    if (this.#inProgress >= inProgressMax) throw tooMany();
    this.#inProgress++;
    try {
      const matches = parseMatches(body).map((match) => ({ match, isKey: leaks.hasFormat(match.token) }));
      const found = matches.filter(({ isKey }) => isKey).map(({ match }) => toReported(match));
      if (found.length > 0) await leaks.report({ kind: 'github' }, found);
      return matches.map(({ match, isKey }) => toLabel(match, isKey));
    } finally {
      this.#inProgress--;
    }
  }
}

function toReported({ token, url }: GithubMatch): Parameters<Leaks['report']>[1][number] {
  const source = sourceOf(url);
  return { text: token, ...(source ? { source } : {}) };
}

const toLabel = ({ token, type }: GithubMatch, isKey: boolean): GithubLabel => ({
  token_hash: createHash('sha256').update(token).digest('hex'),
  token_type: type,
  label: isKey ? 'true_positive' : 'false_positive',
});
