/** Limits of the console: lifetimes of its sessions, test mails, and single sign-on. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';
import { singleSignOnLimits } from './single-sign-on-limits.ts';

export const consoleLimits = {
  consoleIdleSecondsMax: limit(43_200, 'A session of the console ends after this time without an action.'),
  consoleSessionSecondsMax: limit(604_800, 'A session of the console ends after this time in any case.'),
  // NIST SP 800-63B-4 section 2.2.3 (AAL2).
  consoleAdministratorIdleSecondsMax: limit(3_600, '`consoleIdleSecondsMax` for administrators.'),
  consoleAdministratorSecondsMax: limit(86_400, '`consoleSessionSecondsMax` for administrators.'),
  testMailsPerHourMax: limit(20, 'Test mails that an administrator sends in an hour.', 'too_many_requests'),
  // Each extension is a write.
  consoleExtensionSeconds: limit(300, 'Shortest time between two extensions of a session of the console.'),
  markBytesMax: limit(65_536, 'The file of `KEYREEVE_MARK`.'),
  markPixelsMax: limit(1_024, 'Width and height of `KEYREEVE_MARK` as a PNG image.'),
  ...singleSignOnLimits,
} as const satisfies Limits;
