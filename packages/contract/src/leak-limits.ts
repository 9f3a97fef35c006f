/** Limits of reports of leaked secrets. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const leakLimits = {
  githubReportBytesMax: limit(1_048_576, 'Body of `POST /auth/leaks/github`. More: 413.'),
  githubMatchesMax: limit(5_000, 'Matches in such a body. More: 413.'),
  githubReportsInProgressMax: limit(8, 'Such requests in progress, per worker. More: 429.'),
  // A client without a credential can send them.
  rawBodyBytesMax: limit(33_554_432, 'Such bodies that are being received, together, per worker. More: 429.'),
  githubKeysRefreshSeconds: limit(60, 'Shortest time between two requests for the public keys of GitHub.'),
  githubKeysMsMax: limit(10_000, 'Time of such a request.'),
  githubKeysBytesMax: limit(65_536, 'Its response.'),
} as const satisfies Limits;
