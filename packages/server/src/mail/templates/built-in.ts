/**
 * What mail says unless the operator says otherwise. Paragraphs are separated by an empty line; the HTML form is made
 * from them. `{{name}}` stands for a value, a list takes one line for each item.
 */
import type { MailTemplate } from '../mail.ts';

export interface PlainTemplate {
  readonly subject: string;
  readonly text: string;
}

const notYou = 'If this was not you, set a new password now and end all other sessions.';

export const builtIn: Readonly<Record<MailTemplate, PlainTemplate>> = {
  verify_email: {
    subject: 'Confirm your email address for {{product}}',
    text: `Somebody, probably you, is signing up for {{product}} with this email address. To complete it, open this page and enter the password that you have chosen:

{{link}}

The link works once, until {{expiresAt}}. If you did not sign up, do nothing: no account becomes usable.`,
  },
  account_exists: {
    subject: 'You already have an account with {{product}}',
    text: `Somebody, probably you, tried to sign up for {{product}} with this email address. It has an account already, so nothing was changed: sign in with your password. If you do not know it any more, you can set a new one here:

{{resetLink}}

If this was not you, you need not do anything.`,
  },
  reset_password: {
    subject: 'Set a new password for {{product}}',
    text: `Somebody, probably you, has asked from the address {{address}} to set a new password for your account with {{product}}. You can do that here:

{{link}}

The link works once, until {{expiresAt}}. All sessions end with it. These API keys of the account go on working unless you choose to delete them in the same step:

{{keys}}

If you did not ask for this, do nothing: your password stays as it is.`,
  },
  reset_by_administrator: {
    subject: 'Set a new password for {{product}}',
    text: `An administrator of {{product}} sends you this link to set a new password for your account:

{{link}}

The link works once, until {{expiresAt}}; later you can ask for another. Your old password may not work any more. All sessions end with the new one. These API keys go on working unless you choose to delete them in the same step:

{{keys}}

If you don’t know why you get this, ask the operator of {{product}}.`,
  },
  invitation: {
    subject: 'You are invited to {{product}}',
    text: `An administrator of {{product}} has made an account for this email address. To use it, choose a password here:

{{link}}

The link works once, until {{expiresAt}}.`,
  },
  change_email: {
    subject: 'Confirm your new email address for {{product}}',
    text: `Somebody, probably you, wants to use this email address for an account with {{product}}. To confirm it, open this page:

{{link}}

The link works once, until {{expiresAt}}. If you did not ask for this, do nothing: nothing is changed.`,
  },
  email_change_requested: {
    subject: 'A new email address was asked for at {{product}}',
    text: `At {{at}} somebody who is signed in to your account with {{product}} asked to change its email address to {{newEmail}}. The change happens when that address is confirmed.

${notYou} Then the change can’t be confirmed any more.`,
  },
  email_changed: {
    subject: 'Your email address at {{product}} was changed',
    text: `At {{at}} the email address of your account with {{product}} was changed to {{newEmail}}. No further mail goes to this one.

If this was not you, tell the operator of {{product}}.`,
  },
  password_changed: {
    subject: 'Your password for {{product}} was changed',
    text: `At {{at}} the password of your account with {{product}} was changed from the address {{address}}. All other sessions have ended. These API keys of the account still work:

{{keys}}

If this was not you, set a new password now and delete the keys that you do not know.`,
  },
  second_factor_added: {
    subject: 'A second factor was added to your account with {{product}}',
    text: `At {{at}} a second factor was added to your account with {{product}} from the address {{address}}. From now on a sign-in needs its code too.

${notYou}`,
  },
  second_factor_removed: {
    subject: 'The second factor was removed from your account with {{product}}',
    text: `At {{at}} the second factor of your account with {{product}} was removed from the address {{address}}. From now on the password alone signs in.

${notYou}`,
  },
  recovery_code_used: {
    subject: 'A recovery code of your account with {{product}} was used',
    text: `At {{at}} somebody signed in to your account with {{product}} from the address {{address}} with a recovery code instead of the second factor. Codes left: {{remaining}}.

${notYou}`,
  },
  suspicious_sign_in: {
    subject: 'A sign-in to {{product}} after many failures',
    text: `At {{at}} somebody signed in to your account with {{product}}, after this number of attempts that had failed: {{failures}}. It came from the address {{address}} with this program:

{{program}}

${notYou}`,
  },
  account_deleted: {
    subject: 'Your account with {{product}} was deleted',
    text: `At {{at}} your account with {{product}} was deleted, with its sessions and its API keys. The email address is free again.

If this was not you, tell the operator of {{product}}.`,
  },
};
