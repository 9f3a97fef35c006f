/** Limits of reads, signatures and draws that verifications wait for. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const verificationLimits = {
  lookupBatchMax: limit(256, 'Credentials that share one database read.'),
  lookupsWaitingMax: limit(100_000, 'Credentials that wait for a read. More: 503.'),
  signaturesVerifiedMax: limit(
    16,
    'Signatures of access tokens that verifications check at once, half of them of one account. Accounts take turns.',
  ),
  signaturesWaitingMax: limit(
    4_096,
    'Waiting signatures of access tokens. More: the newest of the account with the most gets 503.',
  ),
  signaturesWaitingPerAccountMax: limit(
    1_024,
    'Waiting signatures of access tokens that name one account.',
    'unavailable',
  ),
  signaturesRememberedMax: limit(
    5_000,
    'Access tokens of each signing key whose signature a process does not verify again.',
  ),
  drawsInProgressMax: limit(2, 'Draws of tokens at once, per process; on PostgreSQL, each on its own connection.'),
  drawResponseMsMax: limit(
    3_000,
    'Wait of a verifier for a draw of the main process. Its tokens are lost.',
    'unavailable',
  ),
  verifierResponseMsMax: limit(
    2_000,
    'Time for a verifier to confirm a change of unknown outcome. Longer: the main process kills it.',
  ),
  verifierSilenceMsMax: limit(
    10_000,
    'Silence of a verifier, which sends a message each second. Longer: the main process kills it.',
  ),
  limitsPerDrawMax: limit(256, 'Limits of keys and accounts that share one draw of tokens.'),
  drawsWaitingMax: limit(
    2_000,
    'Verifications that wait for a draw. More: the newest of the account with the most gets 503.',
  ),
  limitedSubjectsInMemoryMax: limit(
    50_000,
    'Keys and accounts with drawn tokens per process. More: those without tokens or not used for a second are dropped.',
  ),
} as const satisfies Limits;
