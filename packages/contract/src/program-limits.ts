/** Limits of programs and of approvals. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const programLimits = {
  programsMax: limit(100, 'Programs of the installation.', 'program_limit_reached'),
  programIdCharsMax: limit(64, 'The id of a program.', 'invalid_request'),
  programLifetimeSeconds: limit(7_776_000, 'Longest lifetime of the keys of a program, if none is set: 90 days.'),
  programLifetimeSecondsMin: limit(
    300,
    'Longest lifetime of the keys of a program: the smallest value.',
    'invalid_request',
  ),
  programLifetimeSecondsMax: limit(315_360_000, 'The same: the largest value, ten years.', 'invalid_request'),
  programKeysPerRemovalMax: limit(10_000, 'Keys that one request for the removal of a program deletes.'),
  deviceRequestSeconds: limit(600, 'Validity of a device code and its user code.', 'expired_token'),
  deviceIntervalSeconds: limit(5, 'Shortest time between two polls with one device code.', 'slow_down'),
  deviceIntervalSecondsMax: limit(60, 'The longest time between two polls: each poll that comes too early adds 5 s.'),
  deviceRepeatSeconds: limit(
    60,
    'Time after the creation of a key in which its device code replaces its unused secret. Later: `invalid_grant`.',
  ),
  // Longer than the uses of a key wait for a write on another instance.
  deviceRepeatAfterSeconds: limit(
    12,
    'Time after the creation of a key before which its device code does not replace the secret.',
    'slow_down',
  ),
  devicePollsMax: limit(20_000, 'Device codes whose polls a process counts. More: the oldest are forgotten.'),
  deviceRequestsPerRangeMax: limit(
    50,
    'Outstanding requests of a program from one client IP range.',
    'too_many_device_requests',
  ),
  deviceRequestsPerProgramMax: limit(
    10_000,
    'Outstanding requests of a program. At the bound, a new one replaces an old one, first of the client IP ranges with most.',
  ),
  // 20^8 codes, and at most 10,000 outstanding requests of a program: a guess succeeds once in 2.5 million. 1,000 accounts have 10,000
  // guesses in an hour, and find a code once in 250 hours; from one range they have 1,030, and find one once in 2,500 hours.
  wrongCodesPerAccountMax: limit(10, 'Wrong user codes that one account enters in an hour.', 'too_many_codes'),
  wrongCodesPerRangeMax: limit(
    30,
    'The same from one client IP range, all accounts together. More: only the first one of each account.',
    'too_many_codes',
  ),
  userCodeCharsMax: limit(64, 'A user code in a request, with separators.', 'invalid_request'),
  keyRemovalCodeSeconds: limit(
    604_800,
    'Validity of the link that deletes the key of a program: 7 days.',
    'code_invalid',
  ),
  endedApprovalKeptSeconds: limit(
    900,
    'Time for which a request is kept after its end. Later, its device code is unknown: `invalid_grant`.',
  ),
} as const satisfies Limits;
