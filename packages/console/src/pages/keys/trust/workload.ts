/** Where programs with a trust run: the claims that the form asks for, and the step with which a workflow gets a secret. */
import { presetUrl } from '@keyreeve/contract/issuer-presets';
import type { Fields } from '../../../fields.ts';
import type { TrustTexts } from '../../../text/texts.ts';
import type { NewTrust, Trust } from '../key-owner.ts';

export type WorkloadName = keyof TrustTexts['workloads'];
type Claims = Readonly<Record<string, unknown>>;

export interface ClaimField {
  /** JSON pointer of the claim, which is the name of the field. */
  readonly pointer: string;
  readonly label: keyof TrustTexts['claim'];
  readonly hint?: keyof TrustTexts['claim'];
  readonly placeholder: string;
  readonly isOptional?: boolean;
  /** Before what the person types. */
  readonly prefix?: string;
  /** What else the trust has if the field is not empty. */
  readonly others?: Claims;
}

export interface Workload {
  readonly fields: readonly ClaimField[];
  /** What it means to leave optional fields empty. */
  readonly warning?: keyof TrustTexts['claim'];
}

const branch = { label: 'branch', placeholder: 'main', isOptional: true } as const;

export const workloads: Readonly<Record<WorkloadName, Workload>> = {
  github: {
    fields: [
      { pointer: '/repository_id', label: 'repositoryId', hint: 'repositoryIdHint', placeholder: '4711' },
      { ...branch, pointer: '/ref', prefix: 'refs/heads/' },
      { pointer: '/environment', label: 'environment', placeholder: 'production', isOptional: true },
    ],
    warning: 'anyBranch',
  },
  gitlab: {
    fields: [
      { pointer: '/project_id', label: 'projectId', hint: 'projectIdHint', placeholder: '4711' },
      // A tag can have the name of a branch.
      { ...branch, pointer: '/ref', others: { '/ref_type': 'branch' } },
    ],
    warning: 'anyRef',
  },
  kubernetes: {
    fields: [
      {
        pointer: '/kubernetes.io/serviceaccount/uid',
        label: 'uid',
        hint: 'uidHint',
        placeholder: '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798',
      },
      { pointer: '/kubernetes.io/namespace', label: 'namespace', placeholder: 'default', isOptional: true },
    ],
  },
  google: {
    fields: [
      { pointer: '/sub', label: 'uniqueId', hint: 'uniqueIdHint', placeholder: '112010400000000710080' },
      {
        pointer: '/email',
        label: 'email',
        placeholder: 'deploy@my-project.iam.gserviceaccount.com',
        isOptional: true,
      },
    ],
  },
  buildkite: {
    fields: [
      {
        pointer: '/pipeline_id',
        label: 'pipelineId',
        hint: 'pipelineIdHint',
        placeholder: '0184990a-4782-42b5-afc1-16715b10b8ff',
      },
      { ...branch, pointer: '/build_branch' },
    ],
    warning: 'anyBuild',
  },
  other: { fields: [] },
};
export const workloadNames = Object.keys(workloads) as WorkloadName[];

/** What the person has typed into the field of a claim. @returns undefined if the trust does not have this claim */
export function typedOf({ pointer, prefix = '' }: ClaimField, claims: object): string | undefined {
  const value = (claims as Claims)[pointer];
  return typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : undefined;
}

/** @returns the claims of the filled fields */
function claimsOf(fields: readonly ClaimField[], typed: (field: ClaimField) => string | undefined): Claims {
  return Object.assign(
    {},
    ...fields.map((field) => {
      const value = typed(field);
      return value && { [field.pointer]: (field.prefix ?? '') + value, ...field.others };
    }),
  ) as Claims;
}

const isSame = (one: Claims, another: object): boolean =>
  Object.keys(one).length === Object.keys(another).length &&
  Object.entries(another).every(([name, value]) => one[name] === value);

/** The workload whose fields have all claims of the trust. */
export const workloadOf = ({ issuer, claims }: Pick<Trust, 'issuer' | 'claims'>): WorkloadName =>
  workloadNames.find((name) => {
    const { fields } = workloads[name];
    // The other products have installations with URLs of their own, and claims of their own.
    if (fields.length === 0 || (name === 'google' && issuer !== presetUrl(name))) return false;
    return isSame(
      claimsOf(fields, (field) => typedOf(field, claims)),
      claims,
    );
  }) ?? 'other';

/** Of the form `TrustFields`, which allows only an object in JSON. */
export function trustIn(fields: Fields): NewTrust {
  const name = fields.text('workload') as WorkloadName;
  const audience = fields.text('audience').trim();
  const claims =
    name === 'other'
      ? (JSON.parse(fields.text('claims')) as Claims)
      : claimsOf(workloads[name].fields, ({ pointer }) => fields.text(pointer).trim());
  return { issuer: fields.text('issuer').trim(), claims, ...(audience && { audience }) };
}

interface StepOptions {
  readonly workload: WorkloadName;
  readonly keyId: number;
  readonly publicUrl: string;
  readonly audience: string;
}

/**
 * Two commands, so that the step fails if the exchange fails. The secret is in `API_KEY`.
 * @param token of the shell, such as `$TOKEN`
 */
const exchange = ({ keyId, publicUrl }: StepOptions, token: string): string =>
  `ANSWER=$(curl -sSf ${publicUrl}/auth/oauth/token \\
  -d grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer \\
  -d client_id=${keyId} -d "assertion=${token}")
API_KEY=$(printf '%s' "$ANSWER" | jq -r .access_token)`;

/** @param by how many spaces */
const indented = (lines: string, by: number): string => lines.replaceAll('\n', `\n${' '.repeat(by)}`);

/** In YAML or for a POSIX shell with curl and jq. */
export function workflowStep(options: StepOptions): string {
  const { workload, audience } = options;
  const get = (token: string): string => exchange(options, token);
  switch (workload) {
    case 'github':
      return `permissions:
  id-token: write
steps:
  - run: |
      TOKEN=$(curl -sSf "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${encodeURIComponent(audience)}" \\
        -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" | jq -r .value)
      ${indented(get('$TOKEN'), 6)}
      echo "::add-mask::$API_KEY"
      echo "API_KEY=$API_KEY" >> "$GITHUB_ENV"`;
    case 'gitlab':
      return `deploy:
  id_tokens:
    TOKEN:
      aud: ${audience}
  script:
    - |
      ${indented(get('$TOKEN'), 6)}`;
    case 'kubernetes':
      return `# In the pod. Mount the volume at /var/run/secrets/keyreeve.
volumes:
  - name: keyreeve
    projected:
      sources:
        - serviceAccountToken:
            path: token
            audience: ${audience}
# In the container:
${get('$(cat /var/run/secrets/keyreeve/token)')}`;
    case 'google':
      return `TOKEN=$(curl -sSf -H 'Metadata-Flavor: Google' \\
  'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity?format=full&audience=${encodeURIComponent(audience)}')
${get('$TOKEN')}`;
    case 'buildkite':
      return `steps:
  - command: |
      TOKEN=$$(buildkite-agent oidc request-token --claim pipeline_id --audience ${audience})
      ${indented(get('$TOKEN'), 6).replaceAll('$', '$$$$')}`;
    case 'other':
      return `# TOKEN is an identity token with the audience ${audience}
${get('$TOKEN')}`;
  }
}
