/** The actions of an administrator on an account: which are possible, and their texts. */
import { config, session } from '../../../session.ts';
import { adminText } from '../../../text/admin-text.ts';
import type { AccountDetail } from './account.tsx';

/** Actions without input, each with the last part of its route's path. */
export const simplePaths = {
  inviteAgain: 'invite',
  resetPassword: 'reset-password',
  endSessions: 'end-sessions',
  disable: 'disable',
  enable: 'enable',
  requireFactor: 'require-second-factor',
  waiveFactor: 'waive-second-factor',
  removeFactor: 'remove-second-factor',
  revokeKeys: 'revoke-keys',
} as const;

export type SimpleName = keyof typeof simplePaths;
export type ActionName = SimpleName | 'role' | 'email' | 'compromised' | 'delete';

export interface Action {
  readonly name: ActionName;
  readonly label: string;
  readonly isDangerous: boolean;
}

export interface SimpleTexts {
  readonly title: string;
  readonly intro: string;
  readonly submit: string;
  /** After the success. */
  readonly done: string;
}

export function simpleTexts(name: SimpleName): SimpleTexts {
  const { accounts } = adminText;
  const of = (title: string, intro: string, done: string, submit = title): SimpleTexts => ({
    title,
    intro,
    done,
    submit,
  });
  switch (name) {
    case 'inviteAgain':
      return of(accounts.inviteAgain, accounts.inviteAgainIntro, accounts.invitedAgain);
    case 'resetPassword':
      return of(accounts.resetPassword, accounts.resetPasswordIntro, accounts.passwordReset);
    case 'endSessions':
      return of(accounts.endSessions, accounts.endSessionsIntro, accounts.sessionsEnded);
    case 'disable':
      return of(accounts.disableTitle, accounts.disableIntro, accounts.disabled, accounts.disable);
    case 'enable':
      return of(accounts.enableTitle, accounts.enableIntro, accounts.enabled, accounts.enable);
    case 'requireFactor':
      return of(accounts.requireFactor, accounts.requireFactorIntro, accounts.factorRequired);
    case 'waiveFactor':
      return of(accounts.waiveFactor, accounts.waiveFactorIntro, accounts.factorWaived);
    case 'removeFactor':
      return of(accounts.removeFactor, accounts.removeFactorIntro, accounts.factorRemoved);
    case 'revokeKeys':
      return of(accounts.revokeKeysTitle, accounts.revokeKeysIntro, accounts.keysRevoked, accounts.revokeKeys);
  }
}

/** They destroy something, or stop programs. */
const dangerous = new Set<ActionName>(['disable', 'removeFactor', 'revokeKeys', 'compromised', 'delete']);

export const isDangerous = (name: ActionName): boolean => dangerous.has(name);

function labelOf(name: ActionName): string {
  const { accounts } = adminText;
  switch (name) {
    case 'role':
      return accounts.changeRole;
    case 'email':
      return accounts.setEmail;
    case 'compromised':
      return accounts.compromised;
    case 'delete':
      return accounts.delete;
    default:
      return simpleTexts(name).submit;
  }
}

/** The server decides; this only hides actions that it would certainly reject. */
function possible(account: AccountDetail): readonly (readonly (ActionName | false)[])[] {
  const isPerson = account.kind === 'person';
  const isOwn = account.id === session.value?.account.id;
  const hasMail = Boolean(config.value?.features.mail);
  return [
    [
      isPerson && hasMail && !account.hasPassword && 'inviteAgain',
      isPerson && hasMail && account.hasPassword && 'resetPassword',
      isPerson && hasMail && account.role === 'user' && account.verified && 'email',
      isPerson && 'role',
    ],
    [
      isPerson && (account.requiresSecondFactor ? 'waiveFactor' : 'requireFactor'),
      isPerson && account.secondFactor && !isOwn && 'removeFactor',
    ],
    [
      isPerson && account.sessionCount > 0 && 'endSessions',
      account.disabledAt === null ? 'disable' : 'enable',
      account.apiKeyCount > 0 && 'revokeKeys',
      isPerson && hasMail && 'compromised',
      'delete',
    ],
  ];
}

/** @returns groups that have at least one action */
export const actionGroups = (account: AccountDetail): readonly (readonly Action[])[] =>
  possible(account)
    .map((group) =>
      group
        .filter((name) => name !== false)
        .map((name) => ({ name, label: labelOf(name), isDangerous: isDangerous(name) })),
    )
    .filter((group) => group.length > 0);
