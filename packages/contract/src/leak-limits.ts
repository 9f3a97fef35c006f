/** Limits of reports of leaked secrets. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const leakLimits = {
  githubReportBytesMax: limit(1_048_576, 'Body of `POST /auth/leaks/github`.', 'body_too_large'),
  githubMatchesMax: limit(5_000, 'Matches in a report of GitHub. More: 413.'),
  githubReportsInProgressMax: limit(8, 'Reports of GitHub in progress, per process. More: 429.'),
  githubKeysRefreshSeconds: limit(60, 'Shortest time between two requests for the public keys of GitHub.'),
  githubKeysAgeSecondsMax: limit(
    86_400,
    'Age of the public keys of GitHub at which a report causes a new request for them.',
  ),
  githubKeysWaitingMax: limit(2, 'Reports that wait for the public keys of GitHub, per process. More: 503.'),
  githubKeysMsMax: limit(10_000, 'Longest time of a request for the public keys of GitHub.'),
  githubKeysBytesMax: limit(65_536, 'Bytes of the response with the public keys of GitHub.'),
} as const satisfies Limits;
