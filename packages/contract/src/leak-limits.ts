/** Limits of reports of leaked secrets. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const leakLimits = {
  githubReportBytesMax: limit(1_048_576, 'Body of `POST /auth/leaks/github`.', 'body_too_large'),
  githubMatchesMax: limit(5_000, 'Matches in a report of GitHub. More: 413.'),
  githubReportsInProgressMax: limit(8, 'Reports of GitHub in progress, per process. More: 429.'),
  githubKeysRefreshSeconds: limit(60, 'Shortest time between two requests for the public keys of GitHub.'),
  githubKeysAgeSecondsMax: limit(86_400, 'Age of these keys at which a report causes a new request.'),
  githubKeysWaitingMax: limit(2, 'Reports that wait for these keys, per process. More: 503.'),
  githubKeysMsMax: limit(10_000, 'Longest time of a request for them.'),
  githubKeysBytesMax: limit(65_536, 'Bytes of the response.'),
} as const satisfies Limits;
