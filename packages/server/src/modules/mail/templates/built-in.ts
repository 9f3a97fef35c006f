/**
 * The built-in templates in English, which an operator can replace. An empty line separates paragraphs, from which the HTML
 * form is generated. `{{name}}` stands for a value; a list has one line for each item.
 */
import type { MailTemplate } from '../mail.ts';

export interface PlainTemplate {
  readonly subject: string;
  readonly text: string;
  /** The label of the link in the HTML form; undefined for a mail without a link. */
  readonly button?: string;
}

const notYou = 'If this was not you, set a new password now and end all other sessions.';

export const builtIn: Readonly<Record<MailTemplate, PlainTemplate>> = {
  verify_email: {
    subject: 'Confirm your email address for {{product}}',
    button: 'Confirm the email address',
    text: `This email address was used to sign up for {{product}}. To complete the sign-up, open this page and enter the password that you chose:

{{link}}

If the page asks for a code, enter this one: {{code}}

The link works once, until {{expiresAt}}. If you did not sign up, you need not do anything: the account cannot be used.`,
  },
  account_exists: {
    subject: 'You already have an account with {{product}}',
    button: 'Set a new password',
    text: `This email address was used to sign up for {{product}}. It already has an account, so nothing was changed: sign in with your password. If you no longer know it, set a new one here:

{{resetLink}}

If this was not you, you need not do anything.`,
  },
  reset_password: {
    subject: 'Set a new password for {{product}}',
    button: 'Set a new password',
    text: `A new password for your account with {{product}} was requested from the IP address {{clientIp}}. You can set it here:

{{link}}

If the page asks for a code, enter this one: {{code}}

The link works once, until {{expiresAt}}. All sessions end when you set it. These API keys of the account continue to work unless you delete them in the same step:

{{keys}}

If you did not request this, you need not do anything: your password stays as it is.`,
  },
  reset_by_administrator: {
    subject: 'Set a new password for {{product}}',
    button: 'Set a new password',
    text: `An administrator of {{product}} sent you this link to set a new password for your account:

{{link}}

If the page asks for a code, enter this one: {{code}}

The link works once, until {{expiresAt}}; after that you can request another. Your old password may no longer work. All sessions end when you set the new one. These API keys continue to work unless you delete them in the same step:

{{keys}}

If you do not know why you received this, ask the operator of {{product}}.`,
  },
  invitation: {
    subject: 'You are invited to {{product}}',
    button: 'Accept the invitation',
    text: `An administrator of {{product}} created an account for this email address. To use it, choose a password here:

{{link}}

If the page asks for a code, enter this one: {{code}}

The link works once, until {{expiresAt}}.`,
  },
  change_email: {
    subject: 'Confirm your new email address for {{product}}',
    button: 'Confirm the email address',
    text: `This email address is to be used for an account with {{product}}. To confirm it, open this page:

{{link}}

If the page asks for a code, enter this one: {{code}}

The link works once, until {{expiresAt}}. If you did not request this, you need not do anything: nothing is changed.`,
  },
  email_change_requested: {
    subject: 'A new email address was requested for your account with {{product}}',
    text: `At {{at}}, a session of your account with {{product}} requested to change its email address to {{newEmail}}. The change takes effect when that address is confirmed.

${notYou} The change can then no longer be confirmed.`,
  },
  email_changed: {
    subject: 'Your email address at {{product}} was changed',
    text: `At {{at}}, the email address of your account with {{product}} was changed to {{newEmail}}. This address receives no further mail.

If this was not you, contact the operator of {{product}}.`,
  },
  email_changed_with_undo: {
    subject: 'Your email address at {{product}} was changed',
    button: 'Undo the change',
    text: `At {{at}}, the email address of your account with {{product}} was changed to {{newEmail}}. This address receives no further mail.

If you did not change it, undo the change here, until {{expiresAt}}. You need not sign in, but enter this email address:

{{link}}

If the page asks for a code, enter this one: {{code}}

This restores your email address, ends all sessions, and makes the password invalid. You then receive a link to set a new one. API keys, passkeys and second factors that were added after the change, or in the 7 days before it, are removed, unless they were used from a network that you had signed in from earlier. You can delete all API keys in the same step:

{{keys}}

If you changed the email address yourself, you need not do anything.`,
  },
  email_restored: {
    subject: 'Your email address at {{product}} was restored',
    button: 'Set a new password',
    text: `This email address belongs to your account with {{product}} again. All sessions have ended, and the old password no longer works. Set a new password here:

{{link}}

If the page asks for a code, enter this one: {{code}}

The link works once, until {{expiresAt}}; after that you can request another. These API keys of the account continue to work unless you delete them in the same step:

{{keys}}

API keys, passkeys and second factors that were added shortly before or after the change were removed. These second factors stay in force: authenticator apps {{authenticators}}, unused recovery codes {{recoveryCodes}}, and these passkeys:

{{passkeys}}

If one of them is not yours, sign in with one that is, and remove it. If none is yours, ask the operator of {{product}}.`,
  },
  email_set_requested: {
    subject: 'A new email address was set at {{product}}',
    text: `At {{at}}, an administrator of {{product}} set {{newEmail}} as the new email address of your account. The change takes effect when that address is confirmed.

If you did not request this, contact the operator of {{product}} now.`,
  },
  password_changed: {
    subject: 'Your password for {{product}} was changed',
    text: `At {{at}}, the password of your account with {{product}} was changed from the IP address {{clientIp}}. All other sessions have ended. These API keys of the account continue to work:

{{keys}}

If this was not you, set a new password now and delete the keys that you do not know.`,
  },
  second_factor_added: {
    subject: 'A second factor was added to your account with {{product}}',
    text: `At {{at}}, a second factor was added to your account with {{product}} from the IP address {{clientIp}}. From now on, a sign-in also needs its code.

${notYou}`,
  },
  second_factor_removed: {
    subject: 'The second factor was removed from your account with {{product}}',
    text: `At {{at}}, the second factor of your account with {{product}} was removed from the IP address {{clientIp}}. From now on, a sign-in needs only the password.

${notYou}`,
  },
  authenticator_removed: {
    subject: 'The authenticator app was removed from your account with {{product}}',
    text: `At {{at}}, the authenticator app of your account with {{product}} was removed from the IP address {{clientIp}}. Your passkeys and recovery codes still work.

${notYou}`,
  },
  passkey_added: {
    subject: 'A passkey was added to your account with {{product}}',
    text: `At {{at}}, the passkey “{{name}}” was added to your account with {{product}} from the IP address {{clientIp}}. It can sign in without your password.

If this was not you, set a new password now, end all other sessions and remove the passkey.`,
  },
  passkey_removed: {
    subject: 'A passkey was removed from your account with {{product}}',
    text: `At {{at}}, the passkey “{{name}}” was removed from your account with {{product}} from the IP address {{clientIp}}. Without another second factor, a sign-in needs only the password from now on.

${notYou}`,
  },
  passkey_counter_regressed: {
    subject: 'A passkey of your account with {{product}} may have been copied',
    text: `At {{at}}, a sign-in to your account with {{product}} from the IP address {{clientIp}} with the passkey “{{name}}” was rejected: its counter was not higher than at its last use. Another device may have a copy of the passkey.

Remove this passkey and add a new one. If this was not you, also set a new password and end all other sessions.`,
  },
  recovery_code_used: {
    subject: 'A recovery code of your account with {{product}} was used',
    text: `At {{at}}, a recovery code of your account with {{product}} was used instead of the second factor, from the IP address {{clientIp}}. Recovery codes left: {{remaining}}.

${notYou}`,
  },
  suspicious_sign_in: {
    subject: 'A sign-in to {{product}} after many failures',
    text: `At {{at}}, your account with {{product}} was signed in to after {{failures}} failed attempts. The sign-in came from the IP address {{clientIp}} with this user agent:

{{userAgent}}

${notYou}`,
  },
  keys_expiring: {
    subject: 'API keys at {{product}} expire on {{day}}',
    text: `API keys of the account {{owner}} at {{product}} expire on {{day}} (UTC). Number of keys: {{count}}. The list below contains all of them or the first 20, each with its id, the start and end of its secret (if known) and its expiry:

{{keys}}

From then on, requests with these keys are rejected. If you still need a key, set a later expiry or replace the key before that time. Otherwise you need not do anything.`,
  },
  api_key_created: {
    subject: 'An API key was created at {{product}}',
    text: `At {{at}}, an operator of {{product}} or another manager of the account created an API key for {{owner}}:

{{key}}

It can be used from now on. Its scopes:

{{scopes}}

If you do not expect this key, delete it and contact the operator of {{product}}. Otherwise you need not do anything.`,
  },
  api_key_created_by_administrator: {
    subject: 'An administrator of {{product}} created an API key for you',
    text: `At {{at}}, the administrator {{by}} of {{product}} created an API key for {{owner}}:

{{key}}

It can be used from now on. Its secret was shown to the administrator once. Its scopes:

{{scopes}}

To delete the key, sign in to {{product}}, open your API keys or the service account, and delete it there. A program sends DELETE /auth/api-keys/<id>, where <id> is the number above. If you do not expect this key, delete it and contact the operator of {{product}}. Otherwise you need not do anything.`,
  },
  program_key_created: {
    subject: '{{program}} got an API key of yours at {{product}}',
    button: 'Delete the key',
    text: `At {{at}}, the program {{program}}, which you had approved, got an API key of your account. It runs in the client IP range {{clientRange}}, where no program got one of your keys before:

{{key}}

Its scopes:

{{scopes}}

If you did not start this sign-in yourself, delete the key here, until {{expiresAt}}. You need not sign in. The page asks for this email address:

{{link}}

If the page asks for a code, enter this one: {{code}}

If you started the sign-in yourself, you need not do anything.`,
  },
  management_key_created: {
    subject: 'A management key was created at {{product}}',
    text: `At {{at}}, the administrator {{by}} created a management key of the service account {{owner}} at {{product}}, from the IP address {{clientIp}}:

{{key}}

With it, a backend creates accounts and API keys for its customers. It is valid until {{until}}, from these IP ranges:

{{addresses}}

Administrators of {{product}} get this mail. If you do not expect this key, delete it now, and report the account {{by}} as compromised. Otherwise you need not do anything.`,
  },
  keys_leaked: {
    subject: 'API keys at {{product}} have leaked and are disabled',
    text: `At {{at}}, a report to {{product}} contained secrets of API keys of {{owner}}. A secret has leaked if anyone other than its owner can read it, for example in a public repository. These keys are disabled, and their secrets never become valid again. Number of keys: {{count}}. The list contains all of them or the first 20, each with its id and the start and end of its secret (if known):

{{keys}}

Requests with these keys are rejected now. To continue to use a key, rotate it: it gets a new secret and keeps its name, scopes and limits. Otherwise delete it.

Other keys of which a previous or short-lived secret has leaked. These secrets have ended; this report did not change the keys:

{{others}}

Find out where the secrets were published, remove them there, and check the usage of the keys for requests that are not yours.`,
  },
  key_secrets_ended: {
    subject: 'Secrets of API keys at {{product}} have leaked and have ended',
    text: `At {{at}}, a report to {{product}} contained previous or short-lived secrets of API keys of {{owner}}. These secrets have ended and never become valid again. This report did not change the keys themselves. Number of keys: {{count}}. The list contains all of them or the first 20, each with its id:

{{keys}}

Find out where the secrets were published. If the current secret of a key or the private key of a client may have been published there too, rotate the key.`,
  },
  account_deleted: {
    subject: 'Your account with {{product}} was deleted',
    text: `At {{at}}, your account with {{product}} was deleted with its sessions and API keys. The email address can be used for a new account.

If this was not you, contact the operator of {{product}}.`,
  },
};
