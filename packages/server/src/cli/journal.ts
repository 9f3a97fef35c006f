/** `keyreeve journal …`: replays the deletion journal. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { replayOnLive } from '../modules/backup/replay-on-live.ts';
import type { ReplayResult } from '../modules/backup/replay.ts';
import { systemClock } from '../foundation/clock.ts';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { collect, plural, print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

interface ReplayCommandOptions extends OutputOptions {
  readonly journal?: readonly string[];
  readonly dryRun?: boolean;
}

export function journalCommand(): Command {
  const journal = new CliCommand('journal')
    .group('recover')
    .lowPriority()
    .description('Replay the deletion journal.')
    .references('docs/backup.md', 'database', 'masterKey', 'deletionJournal');
  journal
    .command('replay')
    .description(
      'Apply recorded deletions again to the database in use, after a failover or after a copy of its files.',
    )
    .option('--journal <folder>', 'further deletion journal (repeatable)', collect)
    .option('--dry-run', 'print what would be deleted; change nothing')
    .json()
    .examples('keyreeve journal replay --dry-run', 'keyreeve journal replay --journal /mnt/other/deletions')
    .action(replay);
  return journal;
}

async function replay({ journal: folders = [], dryRun: isDryRun = false, ...options }: ReplayCommandOptions) {
  const result = await withInstallation({}, async ({ installation: { db, keys }, journal }) => {
    if (!journal && folders.length === 0) {
      throw new UsageError(
        'there is no deletion journal: set KEYREEVE_DELETION_JOURNAL, or name its folder with --journal',
      );
    }
    const journalFolders = folders.map((folder) => resolve(folder));
    return replayOnLive(operator, { db, keys, clock: systemClock, journal, journalFolders, isDryRun });
  });
  const { journalCompleteUntil } = result;
  const head = isDryRun
    ? 'Nothing was changed. A replay of the deletion journal would apply'
    : 'Replayed the deletion journal';
  const text = [`${head}: ${describeReplayed(result)}`, describeReach(journalCompleteUntil)].join('\n');
  print(options, { ...result, isDryRun }, text);
}

/** @returns lines, of which the first continues a line that ends with a colon */
export function describeReplayed({ replayed, unconfirmed }: ReplayResult): string {
  const { apiKeys, accounts, signingKeys, accountsDisabled } = replayed;
  const { rolesRemoved, secondFactorsRemoved, recoveryCodesUsed, recoveryCodesReplaced, passwordsVoided } = replayed;
  const { secondFactorsRequired, webhooksDeleted, webhooksDisabled, apiKeysDisabled } = replayed;
  const { entitlementsRemoved, scopesEntitled, scopesDeleted, managersRemoved, secretsLeaked } = replayed;
  const { authenticatorsRemoved, passkeysRemoved, identitiesUnlinked, filesApplied } = replayed;
  const { programsNarrowed, programsRemoved } = replayed;
  const { issuersNarrowed, issuersRemoved } = replayed;
  const deleted = `${plural(apiKeys, 'key')} and ${plural(accounts, 'account')} deleted again, ${plural(accountsDisabled, 'account')} disabled again, ${plural(signingKeys, 'signing key')} revoked again.`;
  const removed = [
    ...some(rolesRemoved, 'administrator role'),
    ...some(secondFactorsRemoved, 'second factor'),
    ...some(authenticatorsRemoved, 'authenticator app'),
    ...some(passkeysRemoved, 'passkey'),
    ...(identitiesUnlinked > 0 ? [`links of ${plural(identitiesUnlinked, 'account')} to single sign-on`] : []),
    ...some(recoveryCodesUsed, 'used recovery code'),
    ...(recoveryCodesReplaced > 0 ? [`replaced recovery codes of ${plural(recoveryCodesReplaced, 'account')}`] : []),
    ...some(webhooksDeleted, 'webhook endpoint'),
    ...some(managersRemoved, 'service account manager'),
    ...some(programsRemoved, 'program'),
    ...some(secretsLeaked, 'leaked secret'),
    ...some(issuersRemoved, 'issuer'),
  ];
  return [
    deleted,
    ...(removed.length > 0 ? [`Removed again: ${removed.join(', ')}.`] : []),
    ...(apiKeysDisabled > 0
      ? [
          `Keys disabled, because they were disabled, restricted or rotated later: ${apiKeysDisabled}. Their owners can enable them; only an administrator can enable a key that an administrator disabled. If a secret was replaced, the owner must first rotate the key with \`overlapSeconds\` 0.`,
        ]
      : []),
    ...(entitlementsRemoved > 0
      ? [
          `Accounts without entitlements, because some were taken away later: ${entitlementsRemoved}. Set the right ones with \`keyreeve account entitlements\`.`,
        ]
      : []),
    ...(scopesEntitled > 0 ? [`Marked again as in need of an entitlement: ${plural(scopesEntitled, 'scope')}.`] : []),
    ...(scopesDeleted > 0 ? [`Deleted again: ${plural(scopesDeleted, 'scope')}.`] : []),
    ...(webhooksDisabled > 0 ? [`Disabled again: ${plural(webhooksDisabled, 'webhook endpoint')}.`] : []),
    ...(programsNarrowed > 0
      ? [
          `Programs without scopes, because some were taken away later: ${programsNarrowed}. Set them and the lifetime with \`keyreeve program change\`; until then, they get no keys.`,
        ]
      : []),
    ...(issuersNarrowed > 0
      ? [
          `Issuers that accept no token, because a later change has narrowed them: ${issuersNarrowed}. State their settings again with \`keyreeve issuer change\`.`,
        ]
      : []),
    ...(filesApplied > 0 ? ['Files for `keyreeve apply` of an earlier generation are rejected again.'] : []),
    ...(secondFactorsRequired > 0
      ? [`A second factor is required again of ${plural(secondFactorsRequired, 'account')}.`]
      : []),
    ...(passwordsVoided > 0
      ? [
          `Earlier passwords made invalid: ${passwordsVoided}. Their owners set new ones with “forgot password”, or you run \`keyreeve account set-password\`.`,
        ]
      : []),
    ...(unconfirmed.length > 0
      ? [
          `Accounts with an earlier email address: ${unconfirmed.length}. Password resets are not sent to it until the owner changes it, or until you have asked the owner and run \`keyreeve account confirm-email <id>\`:`,
          ...unconfirmed.map((id) => `  ${id}`),
        ]
      : []),
  ].join('\n');
}

const some = (count: number, noun: string): string[] => (count > 0 ? [plural(count, noun)] : []);

export const describeReach = (completeUntil: string | null): string =>
  completeUntil === null
    ? 'It is unknown how complete the deletion journal is.'
    : `The deletion journal is complete until ${completeUntil}. It lacks later deletions of instances whose journals were not named.`;
