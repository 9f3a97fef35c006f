/** Requests that wait for the approval of a person, such as a program on a device that asks for an API key. */
import Type, { type Static } from 'typebox';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { ProgramId } from './program-id.ts';
import { route } from './route.ts';
import { Email, Instant, KeyId, Message, orNull, Scope, Text } from './schemas.ts';

export const approvalKinds = ['device'] as const;
export const approvalStates = ['pending', 'approved', 'denied', 'used'] as const;
export type ApprovalState = (typeof approvalStates)[number];

const ApprovalId = Type.String({ $id: 'ApprovalId', examples: ['apr_5nV2lr1AcZq8tU3yWxO9Se'] });
const Code = Type.String({
  minLength: 1,
  maxLength: limits.userCodeCharsMax,
  description: 'The code that the program shows. Case and separators do not matter',
  examples: ['WDJB-MJHT'],
});
const LifetimeSeconds = Type.Integer({ minimum: 1, maximum: limits.programLifetimeSecondsMax });

export const Approval = Named(
  'Approval',
  {
    id: ApprovalId,
    kind: Type.Enum([...approvalKinds], {
      $id: 'ApprovalKind',
      description: '`device`: a program asks for an API key',
    }),
    state: Type.Enum([...approvalStates], {
      $id: 'ApprovalState',
      description: '`used`: the program has fetched its API key',
    }),
    program: Named('ApprovalProgram', { id: ProgramId, name: Text('Acme CLI') }),
    clientRange: Text('203.0.113.0/24', 'The client IP range of the program: /24 of IPv4, /48 of IPv6'),
    isOwnRange: Type.Boolean({ description: 'Whether the request about the approval comes from the same range' }),
    createdAt: Instant,
    expiresAt: Instant,
    scopes: Type.Array(Text('orders:read'), {
      description: 'The requested scopes; of an approved request: the approved ones',
    }),
    lifetimeSeconds: Type.Integer({
      minimum: 1,
      description: 'The longest lifetime of the API key; of an approved request: the approved one',
      examples: [limits.programLifetimeSeconds],
    }),
    nickname: Text('Acme CLI', 'The suggested nickname; of an approved request: the approved one'),
    keyId: orNull(KeyId, null),
  },
  { description: '`keyId`: the API key, when the program has fetched it' },
);
export type Approval = Static<typeof Approval>;

export const ApprovalCodeBody = Named('ApprovalCode', { code: Code });

export const ApprovalBody = Named('ApprovalDecision', {
  code: Code,
  nickname: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.nicknameBytesMax,
      description: 'Of the API key. If another key of the account has it, it gets a number. Default: the suggested one',
      examples: ['Acme CLI on laptop'],
    }),
  ),
  scopes: Type.Optional(
    Type.Array(Scope, {
      maxItems: limits.scopesPerKeyMax,
      uniqueItems: true,
      description: 'Some of the requested scopes. Default: all of them',
      examples: [['orders:read']],
    }),
  ),
  lifetimeSeconds: Type.Optional({
    ...LifetimeSeconds,
    description: 'Of the API key, at most that of the request, which is the default',
    examples: [2_592_000],
  }),
});
export type ApprovalBody = Static<typeof ApprovalBody>;

const approvals = { tag: 'Approvals', auth: 'access_token' } as const;
const ofApproval = { params: Type.Object({ id: ApprovalId }) } as const;
const found = { status: 200, description: 'The request', schema: Approval } as const;

export const lookUpApproval = route('lookUpApproval', 'POST /auth/approvals/lookup', {
  ...approvals,
  summary: 'Find the request with a code',
  description:
    'Also a request that the account has decided, until it expires. Wrong codes are counted for each account and client IP range.',
  body: { type: 'json', schema: ApprovalCodeBody },
  success: found,
  errors: ['approval_not_found', 'too_many_codes'],
});

export const getApproval = route('getApproval', 'GET /auth/approvals/:id', {
  ...approvals,
  ...ofApproval,
  summary: 'Get a request that the account has decided',
  success: found,
  errors: ['approval_not_found'],
});

export const approveRequest = route('approveRequest', 'POST /auth/approvals/:id/approve', {
  ...approvals,
  ...ofApproval,
  needsRecentSignIn: true,
  summary: 'Approve a request',
  description:
    'Stores a right: the key does not exist until the program fetches it with its device code. The right ends with the session that approved it, within 10 minutes, and when the account denies the request, loses an entitlement, or the program is removed.',
  body: { type: 'json', schema: ApprovalBody },
  success: found,
  errors: [
    'approval_not_found',
    'approval_decided',
    'too_many_codes',
    'nickname_invalid',
    'scope_invalid',
    'scope_not_entitled',
    'key_limit_reached',
  ],
});

export const denyRequest = route('denyRequest', 'POST /auth/approvals/:id/deny', {
  ...approvals,
  ...ofApproval,
  isNarrowing: true,
  summary: 'Deny a request',
  description:
    'Also a request that the account has approved, until the program has fetched its key; of that one, the code is not compared.',
  body: { type: 'json', schema: ApprovalCodeBody },
  success: { status: 200, description: 'It is denied', schema: Message },
  errors: ['approval_not_found', 'approval_decided', 'too_many_codes'],
});

export const KeyRemovalBody = Named('KeyRemoval', {
  code: Text('krvc_9qTz4mWx…', 'The code from the mail'),
  email: Type.String({ ...Email, description: 'The email address that received the mail, typed by the person' }),
});

export const removeMailedKey = route('removeMailedKey', 'POST /auth/approvals/keys/remove', {
  tag: 'Approvals',
  auth: 'one_time_code',
  isNarrowing: true,
  summary: 'Delete the key of a program with the code from a mail',
  description: `For the link in the mail about the first key of a program in a client IP range. The code is valid for ${limits.keyRemovalCodeSeconds / 86_400} days. A person types the email address, because mail scanners press buttons.`,
  body: { type: 'json', schema: KeyRemovalBody },
  success: { status: 200, description: 'The key has been deleted', schema: Message },
  errors: ['code_invalid', 'email_wrong', 'too_many_requests'],
});

export const approvalRoutes = [lookUpApproval, getApproval, approveRequest, denyRequest, removeMailedKey] as const;
