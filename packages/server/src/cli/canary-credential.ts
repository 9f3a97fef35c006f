/** Credentials of a revocation check from outside: `keyreeve prove-revocation credential` issues one, the check reads it. */
import { limits } from '@keyreeve/contract';
import { canaryCredential } from '../app/configuration/config.ts';
import { toInstant } from '../foundation/clock.ts';
import type { Secret } from '../foundation/crypto/secret.ts';
import type { CliCommand } from './command.ts';
import { credentialOf, readCredentialFile } from './credential-input.ts';
import { UsageError } from './failure.ts';
import { print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

interface IssueOptions extends OutputOptions {
  readonly expires?: string;
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };
const hoursMax = limits.canaryCredentialSecondsMax / 3_600;
const hoursDefault = limits.canaryCredentialSeconds / 3_600;

const description = `Issue a credential for the revocation check from outside the cluster.

This command needs the database and the master key; the check itself does not. The credential creates, verifies and deletes canary keys, and nothing else. Standard output has only the credential.`;

export function addCredentialCommand(parent: CliCommand): void {
  parent
    .command('credential')
    .description(description)
    .option('--expires <time>', `lifetime, such as 30m; at most ${hoursMax}h (default: ${hoursDefault}h)`)
    .json()
    .examples('keyreeve prove-revocation credential --expires 30m > canary-credential')
    .reads('database', 'masterKey')
    // The parser gives --json to the command above, which has it too.
    .action((_options: unknown, command: CliCommand) => issue(command.optsWithGlobals()));
}

async function issue(options: IssueOptions): Promise<void> {
  const seconds = parseLifetime(options.expires ?? `${hoursDefault}h`);
  const issued = await withInstallation({}, ({ canaryKeys }) => canaryKeys.issue(operator, seconds));
  const { keyId, accountId, secret } = issued;
  const expiresAt = toInstant(issued.expiresAt);
  print(options, { keyId, accountId, credential: secret.reveal(), expiresAt }, secret.reveal());
  if (options.json) return;
  process.stderr.write(
    `Issued a credential for keyreeve prove-revocation --url, until ${expiresAt}. To end it: keyreeve key delete ${keyId}\n`,
  );
}

function parseLifetime(text: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN);
  if (seconds >= 1 && seconds <= limits.canaryCredentialSecondsMax) return seconds;
  throw new UsageError(`--expires must be like 90s, 30m or 1h, and at most ${hoursMax}h, not “${text}”`);
}

/**
 * The credential that the check uses. It is never an argument, because `ps` shows arguments.
 * @param file its path, `-` for standard input; undefined: the environment has it
 * @throws UsageError
 */
export async function readCredential(file: string | undefined): Promise<Secret> {
  const text = file === undefined ? (canaryCredential() ?? '') : await readCredentialFile(file);
  const credential = credentialOf(text);
  if (credential) return credential;
  throw new UsageError(
    file === undefined && text.trim() === ''
      ? 'the credential is missing; use --credential-file or KEYREEVE_CANARY_CREDENTIAL. `keyreeve prove-revocation credential` issues one'
      : 'the credential is not one that `keyreeve prove-revocation credential` has issued',
  );
}
