/** Programs, such as command lines, that sign in as a device and get an API key (RFC 8628). Operators declare them. */
import Type, { type Static } from 'typebox';
import { administrator, changing } from './admin-parts.ts';
import { limits } from './limits.ts';
import { Named } from './named.ts';
import { ProgramId } from './program-id.ts';
import { route } from './route.ts';
import { Instant, Scope, Text } from './schemas.ts';

const Name = Type.String({
  minLength: 1,
  maxLength: limits.nicknameBytesMax,
  description: 'What people see, and the suggested nickname of a key. The rules are those of nicknames',
  examples: ['Acme CLI'],
});
const Scopes = Type.Array(Scope, {
  maxItems: limits.scopesPerKeyMax,
  uniqueItems: true,
  description: 'The scopes that its keys may have. Scopes that begin with `keyreeve:` are not allowed',
  examples: [['orders:read']],
});
const LifetimeSeconds = Type.Integer({
  minimum: limits.programLifetimeSecondsMin,
  maximum: limits.programLifetimeSecondsMax,
  description: 'The longest lifetime of its keys',
  examples: [limits.programLifetimeSeconds],
});

const KeyCount = Type.Integer({ minimum: 0, description: 'Number of API keys that it made', examples: [3] });

export const NewProgramBody = Named('NewProgram', {
  id: ProgramId,
  name: Name,
  scopes: Type.Optional(Scopes),
  lifetimeSeconds: Type.Optional(LifetimeSeconds),
});
export type NewProgramBody = Static<typeof NewProgramBody>;

export const ProgramChangeBody = Named(
  'ProgramChange',
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    lifetimeSeconds: Type.Optional(LifetimeSeconds),
  },
  {
    minProperties: 1,
    description: 'Absent members keep their values. Keys that exist keep their scopes and expiry',
    examples: [{ lifetimeSeconds: 2_592_000 }],
  },
);
export type ProgramChangeBody = Static<typeof ProgramChangeBody>;

export const Program = Named(
  'Program',
  {
    id: ProgramId,
    name: Name,
    scopes: Type.Array(Text('orders:read')),
    lifetimeSeconds: Type.Integer({ minimum: 0, examples: [limits.programLifetimeSeconds] }),
    keys: KeyCount,
    createdAt: Instant,
    updatedAt: Instant,
  },
  {
    description:
      '`lifetimeSeconds`: 0 after a restore that repeated a narrowing of the program; it gets no keys until an administrator sets it again',
  },
);
export type Program = Static<typeof Program>;

export const ProgramList = Named('ProgramList', {
  programs: Type.Array(Program),
  removed: Type.Array(Named('RemovedProgramKeys', { id: ProgramId, keys: KeyCount }), {
    description: `Programs that were removed and still have keys, by id, at most ${limits.programsMax}`,
  }),
});

export type ProgramList = Static<typeof ProgramList>;

export const RemovedProgram = Named('RemovedProgram', {
  message: Text('The program acme-cli has been removed.'),
  deletedKeys: Type.Integer({ minimum: 0, examples: [3] }),
  remainingKeys: Type.Integer({
    minimum: 0,
    description: 'Its keys that exist. With `keys=delete`, send the request again until there are none',
    examples: [0],
  }),
});
export type RemovedProgram = Static<typeof RemovedProgram>;

const ofProgram = { params: Type.Object({ id: ProgramId }) } as const;
const program = { status: 200, description: 'The program', schema: Program } as const;

export const adminListPrograms = route('adminListPrograms', 'GET /admin/programs', {
  ...administrator,
  summary: 'List the programs that can sign in as a device',
  success: { status: 200, description: 'The programs by id', schema: ProgramList },
});

export const adminAddProgram = route('adminAddProgram', 'POST /admin/programs', {
  ...changing,
  summary: 'Add a program',
  body: { type: 'json', schema: NewProgramBody },
  success: {
    status: 201,
    description: 'The new program',
    schema: Program,
    headers: { Location: '/admin/programs/{id}' },
  },
  errors: ['nickname_invalid', 'scope_invalid', 'reserved_scope', 'program_taken', 'program_limit_reached'],
});

export const adminGetProgram = route('adminGetProgram', 'GET /admin/programs/:id', {
  ...administrator,
  ...ofProgram,
  summary: 'Get a program',
  success: program,
  errors: ['program_not_found'],
});

export const adminChangeProgram = route('adminChangeProgram', 'PATCH /admin/programs/:id', {
  ...changing,
  ...ofProgram,
  summary: 'Change a program',
  description: 'Requests that were approved before the change, and whose key does not exist yet, are denied.',
  body: { type: 'json', schema: ProgramChangeBody },
  success: program,
  errors: ['program_not_found', 'nickname_invalid', 'scope_invalid', 'reserved_scope'],
});

export const adminRemoveProgram = route('adminRemoveProgram', 'DELETE /admin/programs/:id', {
  ...changing,
  ...ofProgram,
  summary: 'Remove a program',
  description:
    'It can start no further sign-ins, and its outstanding requests have ended. Its keys stay valid, unless the request deletes them: each verification that starts after the response rejects the deleted keys, on every instance.',
  query: Type.Object(
    {
      keys: Type.Optional(
        Type.Enum(['keep', 'delete'], {
          description: `\`delete\`: also deletes its keys, at most ${limits.programKeysPerRemovalMax} with one request; also those of a program that was removed before`,
          examples: ['keep'],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  success: { status: 200, description: 'It has been removed', schema: RemovedProgram },
  errors: ['program_not_found'],
});

export const programAdminRoutes = [
  adminListPrograms,
  adminAddProgram,
  adminGetProgram,
  adminChangeProgram,
  adminRemoveProgram,
] as const;
