/** Limits of requests, their bodies and their connections. Part of the tables in limits.ts. */
import { limit, type Limits } from './limit-definition.ts';

export const authorizationChars = 4_096;
export const credentialsPerBatch = 256;
/** For quotes, comma and indentation. */
const batchItemBytes = 8;
/** For the object around the credentials. */
const batchFrameBytes = 64;
const batchBodyBytes = credentialsPerBatch * (authorizationChars + batchItemBytes) + batchFrameBytes;

export const requestLimits = {
  headerBytesMax: limit(16_384, 'Size of a request’s headers.', 'headers_too_large'),
  headerFieldsMax: limit(100, 'Header fields of a request.', 'headers_too_large'),
  urlCharsMax: limit(2_048, 'Request target, except of `/auth/forward`.', 'url_too_long'),
  // The time to parse such a header grows with the square of its length.
  preferenceCharsMax: limit(1_024, '`Accept` or `Accept-Language`. A longer header is ignored.'),
  bodyBytesMax: limit(16_384, 'Request body.', 'body_too_large'),
  batchBodyBytesMax: limit(batchBodyBytes, 'Body of `POST /auth/verify/batch`.', 'body_too_large'),
  // An API key or an access token fits. Larger bodies are read after the caller was authenticated.
  sharedReadBodyBytesMax: limit(1_024, 'Body of a verification that shares a read with the caller’s key.'),
  // No body costs more than three times its parsing.
  validationErrorsMax: limit(20, 'Validation errors in one response.'),
  errorNameCharsMax: limit(64, 'A field name in an error.'),
  jsonDepthMax: limit(8, 'Nesting of a JSON body.', 'malformed_json'),
  headersTimeoutMs: limit(10_000, 'Time to receive a request’s headers.', 'request_timeout'),
  requestTimeoutMs: limit(15_000, 'Time to receive a request.', 'request_timeout'),
  // A body that arrives at once is never the oldest for long.
  unfinishedBodiesPerCredentialMax: limit(
    128,
    'Unfinished bodies per session or key, except of verifications. The oldest is rejected.',
    'too_many_in_progress',
  ),
  unfinishedBodiesPerRangeMax: limit(512, 'Unfinished bodies from one client IP range. More: 429 for the oldest.'),
  // Those of GitHub reports have up to 1 MiB, and need no credential.
  unfinishedBodyBytesMax: limit(33_554_432, 'Bytes of all unfinished bodies of a process. More: 429 for the oldest.'),
  unfinishedBodyBytesPerNetworkMax: limit(
    4_194_304,
    'Bytes of unfinished bodies from one IPv4 /24 or IPv6 /48. More: 429 for the oldest.',
  ),
  // Longer than the 60 s of common load balancers.
  keepAliveTimeoutMs: limit(65_000, 'Lifetime of an idle connection.'),
  connectionsMax: limit(
    10_000,
    'Open connections per process; fewer if it may open fewer files (by 512). The longest idle one of the client IP range with the most closes for the next client; those of trusted proxies close last.',
    'a connection closes',
  ),
  requestsPerConnectionMax: limit(10_000, 'Requests on one connection.'),
  pipelinedRequestsMax: limit(64, 'Requests that wait on one connection.', 'the connection closes'),
  // At most one response of each connection is unread; a waiting request counts 4.5 KiB besides its own bytes.
  unreadBytesMax: limit(
    33_554_432,
    'Unread responses and waiting requests, per process. More: the longest stalled connections are closed.',
  ),
  responseBytesPerSecondFloor: limit(1_024, 'Slowest rate of reading a response.'),
  // At the slowest rate the kernel reports progress only about every 28 s.
  responseStallSecondsMax: limit(30, 'Time without reading of a response.', 'the connection closes'),
} as const satisfies Limits;
