/** What KEYREEVE_CONSOLE_MANAGEMENT_KEYS needs: mail to administrators, and their passwords. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionalRoutes } from '../../../test-kit/optional-routes.ts';
import { readConfig } from '../configuration/config.ts';

test('administrators create management keys only with mail, and if their passwords are accepted', () => {
  assert.equal(readConfig(optionalRoutes).hasManagementKeys, true);
  const { KEYREEVE_SMTP_URL, KEYREEVE_MAIL_FROM, ...withoutMail } = optionalRoutes;
  assert.ok(KEYREEVE_SMTP_URL && KEYREEVE_MAIL_FROM);
  assert.throws(
    () => readConfig(withoutMail),
    /KEYREEVE_CONSOLE_MANAGEMENT_KEYS can be on only with KEYREEVE_SMTP_URL/,
  );
  assert.throws(
    () => readConfig({ ...optionalRoutes, KEYREEVE_ADMIN_PASSWORDS: 'off' }),
    /KEYREEVE_CONSOLE_MANAGEMENT_KEYS can be on only if KEYREEVE_ADMIN_PASSWORDS is on/,
  );
});
