/** The options of a key's trust: JSON, or the claims of a repository on GitHub. */
import { Option } from 'commander';
import { issuerPresets, type TrustBody } from '@keyreeve/contract';
import type { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { parseJsonObject } from './key-input.ts';

export interface TrustOptions {
  readonly trust?: string;
  readonly githubRepositoryId?: string;
  readonly ref?: string;
}

const example = '{"issuer":"https://gitlab.com","claims":{"project_id":"4711","ref":"main"}}';

/** @param conflicts names of options that state another credential of the key */
export const withTrust = (command: CliCommand, conflicts: readonly string[]): CliCommand =>
  command
    .addOption(
      new Option(
        '--trust <json>',
        'issuer and claims of the identity tokens that clients exchange, instead of a secret',
      ).conflicts([...conflicts]),
    )
    .addOption(
      new Option('--github-repository-id <id>', 'trust the workflows of this GitHub repository').conflicts([
        ...conflicts,
        'trust',
      ]),
    )
    .option('--ref <ref>', 'with --github-repository-id: only those of this Git reference, such as refs/heads/main');

/** @returns undefined without these options. The service checks the members @throws UsageError */
export function parseTrustOptions({ trust, githubRepositoryId, ref }: TrustOptions): TrustBody | undefined {
  if (trust !== undefined) return parseJsonObject('--trust', trust, example) as TrustBody;
  if (githubRepositoryId === undefined) {
    if (ref !== undefined) throw new UsageError('--ref needs --github-repository-id');
    return undefined;
  }
  const claims = { repository_id: githubRepositoryId, ...(ref === undefined ? {} : { ref }) };
  return { issuer: issuerPresets.github.url, claims };
}
