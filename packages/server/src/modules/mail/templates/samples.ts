/**
 * Example values of each template: for previews, and for the names that a template can use. All domains and IP addresses
 * are reserved for documentation (RFC 2606, RFC 5737).
 */
import type { MailData } from '../mail.ts';

const code = `krvc_${'0'.repeat(49)}`;
const link = (kind: string): string => `https://auth.example.com/account/${kind}#${code}`;
const at = '2026-11-21T09:30:00.000Z';
const expiresAt = '2026-11-22T09:30:00.000Z';
const clientIp = '192.0.2.7';
const keys = ['build server', 'laptop'];

export const samples: { readonly [Template in keyof MailData]: MailData[Template] } = {
  verify_email: { link: link('verify-email'), code, expiresAt },
  account_exists: { resetLink: 'https://auth.example.com/account/reset-password' },
  reset_password: { link: link('reset-password'), code, expiresAt, keys, clientIp },
  reset_by_administrator: { link: link('reset-password'), code, expiresAt, keys },
  invitation: { link: link('accept-invitation'), code, expiresAt },
  change_email: { link: link('change-email'), code, expiresAt },
  email_change_requested: { newEmail: 'new@example.com', at },
  email_changed: { newEmail: 'new@example.com', at },
  email_changed_with_undo: {
    newEmail: 'new@example.com',
    at,
    link: link('undo-email-change'),
    code,
    expiresAt: '2026-11-28T09:30:00.000Z',
    keys,
  },
  email_restored: {
    link: link('reset-password'),
    code,
    expiresAt,
    keys,
    authenticators: 1,
    recoveryCodes: 7,
    passkeys: [`laptop (${at})`],
  },
  email_set_requested: { newEmail: 'new@example.com', at },
  password_changed: { at, clientIp, keys },
  second_factor_added: { at, clientIp },
  second_factor_removed: { at, clientIp },
  authenticator_removed: { at, clientIp },
  passkey_added: { name: 'laptop', at, clientIp },
  passkey_removed: { name: 'laptop', at, clientIp },
  passkey_counter_regressed: { name: 'laptop', at, clientIp },
  recovery_code_used: { at, clientIp, remaining: 7 },
  suspicious_sign_in: { at, clientIp, userAgent: 'Mozilla/5.0 (X11; Linux x86_64)', failures: 12 },
  keys_expiring: {
    day: '2026-12-05',
    owner: 'ada@example.com',
    count: 2,
    keys: [
      'build server (4830184710273911, krv_…x7Qa): 2026-12-05 09:30 UTC',
      'laptop (5519022846103377): 2026-12-05 18:00 UTC',
    ],
  },
  program_key_created: {
    at,
    program: 'Acme CLI',
    clientRange: '203.0.113.0/24',
    key: 'Acme CLI (4830184710273911, krv_…x7Qa)',
    scopes: ['orders:read'],
    link: link('remove-key'),
    code,
    expiresAt: '2026-11-28T09:30:00.000Z',
  },
  api_key_created: {
    at,
    owner: 'ada@example.com',
    key: 'build server (4830184710273911, krv_…x7Qa)',
    scopes: ['orders:read', 'orders:write'],
  },
  api_key_created_by_administrator: {
    at,
    owner: 'ada@example.com',
    key: 'build server (4830184710273911, krv_…x7Qa)',
    scopes: ['orders:read', 'orders:write'],
    by: 'admin@example.com',
  },
  management_key_created: {
    at,
    by: 'admin@example.com',
    clientIp,
    owner: 'backend (acc_3K9vQm1ZyT4cW8nB6pXr2L)',
    key: 'backend (4830184710273911, krv_…x7Qa)',
    until: '2027-02-27T09:30:00.000Z',
    addresses: ['203.0.113.7/32'],
  },
  keys_leaked: {
    at,
    owner: 'ada@example.com',
    count: 1,
    keys: ['build server (4830184710273911, krv_…x7Qa)'],
    others: ['laptop (5519022846103377)'],
  },
  key_secrets_ended: { at, owner: 'ada@example.com', count: 1, keys: ['laptop (5519022846103377)'] },
  account_deleted: { at },
};
