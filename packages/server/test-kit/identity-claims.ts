/**
 * The headers and claims of the identity tokens that workloads get, with the names, types, lifetimes and values of the
 * issuers. Each function returns the claims besides `iss`, `aud` and those that a test states.
 */
// oxlint-disable-next-line no-restricted-imports -- the form that issuers use, and no secret
import { randomUUID } from 'node:crypto';

export interface TokenShape {
  /** Besides `alg` and `kid`. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** From `iat` to `exp`. */
  readonly lifetimeSeconds: number;
  /** Whether `aud` is an array. */
  readonly hasAudienceList?: boolean;
  /** @param now seconds since 1970 */
  readonly claims: (now: number) => Readonly<Record<string, unknown>>;
}

const jwt = { typ: 'JWT' };
const sha = '9f3182061f1e2cca4702c368cbc039b7dc9d4485';

/** https://docs.github.com/en/actions/reference/security/oidc */
const github: TokenShape = {
  header: { ...jwt, x5t: 'ykNaY4qM_ta4k2TgZOCEYLkcYlA' },
  lifetimeSeconds: 300,
  claims: (now) => ({
    jti: randomUUID(),
    sub: 'repo:octo-org/octo-repo:ref:refs/heads/main',
    ref: 'refs/heads/main',
    sha,
    repository: 'octo-org/octo-repo',
    repository_owner: 'octo-org',
    repository_owner_id: '65',
    repository_id: '4711',
    repository_visibility: 'private',
    run_id: '30433642',
    run_number: '10',
    run_attempt: '2',
    actor: 'octocat',
    actor_id: '12',
    workflow: 'release',
    head_ref: '',
    base_ref: '',
    event_name: 'push',
    ref_protected: 'true',
    ref_type: 'branch',
    workflow_ref: 'octo-org/octo-repo/.github/workflows/release.yml@refs/heads/main',
    workflow_sha: sha,
    job_workflow_ref: 'octo-org/octo-repo/.github/workflows/release.yml@refs/heads/main',
    job_workflow_sha: sha,
    runner_environment: 'github-hosted',
    nbf: now - 600,
  }),
};

/** https://docs.gitlab.com/ci/secrets/id_token_authentication/ */
const gitlab: TokenShape = {
  header: jwt,
  lifetimeSeconds: 3_600,
  claims: (now) => ({
    jti: randomUUID(),
    sub: 'project_path:my-group/my-project:ref_type:branch:ref:main',
    namespace_id: '72',
    namespace_path: 'my-group',
    project_id: '20',
    project_path: 'my-group/my-project',
    project_visibility: 'private',
    user_id: '1',
    user_login: 'sample-user',
    user_email: 'sample-user@example.com',
    user_access_level: 'developer',
    user_identities: [{ provider: 'github', extern_uid: '2435223452345' }],
    groups_direct: ['my-group/my-subgroup', 'other-group'],
    pipeline_id: '574',
    pipeline_source: 'push',
    job_id: '302',
    ref: 'main',
    ref_type: 'branch',
    ref_path: 'refs/heads/main',
    ref_protected: 'true',
    runner_id: 1,
    runner_environment: 'gitlab-hosted',
    sha,
    ci_config_ref_uri: 'gitlab.example.com/my-group/my-project//.gitlab-ci.yml@refs/heads/main',
    ci_config_sha: sha,
    environment: 'production',
    environment_protected: 'false',
    deployment_tier: 'production',
    environment_action: 'start',
    nbf: now - 5,
  }),
};

/** A projected token: https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/ */
const kubernetes: TokenShape = {
  lifetimeSeconds: 3_600,
  hasAudienceList: true,
  claims: (now) => ({
    jti: randomUUID(),
    sub: 'system:serviceaccount:shop:deployer',
    'kubernetes.io': {
      namespace: 'shop',
      node: { name: 'node-1', uid: '646e7c5e-32d6-4d42-9dbd-e504e6cbe6b1' },
      pod: { name: 'deployer-66bd7b5f8-2xqzj', uid: '5e0bd49b-f040-43b0-99b7-22765a53f7f3' },
      serviceaccount: { name: 'deployer', uid: '14ee3fa4-a7e2-420f-9f9a-dbc4507c3798' },
    },
    nbf: now,
  }),
};

/** Of the metadata server: https://cloud.google.com/compute/docs/instances/verifying-instance-identity */
const google: TokenShape = {
  header: jwt,
  lifetimeSeconds: 3_600,
  claims: () => ({
    sub: '112010400000000710080',
    azp: '112010400000000710080',
    email: 'deployer@my-project.iam.gserviceaccount.com',
    email_verified: true,
    google: {
      compute_engine: {
        instance_creation_timestamp: 1_788_000_000,
        instance_id: '152986662232938449',
        instance_name: 'example-instance',
        project_id: 'my-project',
        project_number: 739_419_398_126,
        zone: 'europe-west3-b',
      },
    },
  }),
};

/**
 * Of `sts:GetWebIdentityToken`, at an issuer of the AWS account:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_outbound_token_claims.html
 */
const aws: TokenShape = {
  header: jwt,
  lifetimeSeconds: 300,
  claims: () => ({
    jti: randomUUID(),
    sub: 'arn:aws:iam::123456789012:role/Deployer',
    'https://sts.amazonaws.com/': {
      aws_account: '123456789012',
      org_id: 'o-exampleorgid',
      ou_path: ['o-exampleorgid/r-ab12/ou-ab12-11111111/'],
      principal_id: 'arn:aws:iam::123456789012:role/Deployer',
      principal_tags: { team: 'shop' },
      source_region: 'eu-central-1',
      original_session_exp: '2036-01-01T00:00:00Z',
    },
  }),
};

/** Of a pod on EKS, as the webhook of IAM roles for service accounts mounts it. */
const eks: TokenShape = { ...kubernetes, lifetimeSeconds: 86_400 };

/** Entra dates a token five minutes back: the lifetime includes them. */
const datedBackSeconds = 300;
const tenant = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
const azureObject = 'a9f7d7c2-5f0c-4f44-8a9d-0f3f1f3c8a11';
const azureClaims = (now: number) => ({
  iat: now - datedBackSeconds,
  nbf: now - datedBackSeconds,
  oid: azureObject,
  sub: azureObject,
  tid: tenant,
  idtyp: 'app',
  rh: '1.AXkA4AQlP4lP00GaDAMF6CwzAQ.',
  uti: 'b9wJ3pC2zUyXn1dZbQ0AAA',
  xms_mirid: `/subscriptions/${tenant}/resourcegroups/shop/providers/Microsoft.ManagedIdentity/userAssignedIdentities/deployer`,
});
const entraHeader = { ...jwt, x5t: 'HS23b7Do7TcaU1RoLHwpIq24VYg' };
const azureLifetimeSeconds = 86_400 + datedBackSeconds;
const azureClient = '6731de76-14a6-49ae-97bc-6eba6914391e';

/** https://learn.microsoft.com/en-us/entra/identity-platform/access-token-claims-reference; issuer https://sts.windows.net/… */
const azureV1: TokenShape = {
  header: entraHeader,
  lifetimeSeconds: azureLifetimeSeconds,
  claims: (now) => ({
    ...azureClaims(now),
    aio: 'k2RgYFh9zXl3iR1bIQA=',
    appid: azureClient,
    appidacr: '2',
    idp: `https://sts.windows.net/${tenant}/`,
    ver: '1.0',
  }),
};

/** Issuer https://login.microsoftonline.com/<tenant>/v2.0 */
const azureV2: TokenShape = {
  header: entraHeader,
  lifetimeSeconds: azureLifetimeSeconds,
  claims: (now) => ({ ...azureClaims(now), aio: 'k2RgYFh9zXl3iR1bIQA=', azp: azureClient, azpacr: '2', ver: '2.0' }),
};

/** https://buildkite.com/docs/agent/cli/reference/oidc, with `--claim organization_id --claim pipeline_id` */
const buildkite: TokenShape = {
  header: jwt,
  lifetimeSeconds: 300,
  claims: (now) => ({
    jti: randomUUID(),
    sub: `organization:acme-inc:pipeline:super-duper-app:ref:refs/heads/main:commit:${sha}:step:build`,
    organization_slug: 'acme-inc',
    organization_id: '0184990a-477b-4fa8-9968-496074483c42',
    pipeline_slug: 'super-duper-app',
    pipeline_id: '0184990a-4782-42b5-afc1-16715b10b8ff',
    build_number: 1,
    build_branch: 'main',
    build_tag: null,
    build_commit: sha,
    build_source: 'webhook',
    step_key: 'build',
    job_id: '0184990a-4782-42b5-afc1-16715b10b1ee',
    agent_id: '0184990a-4782-42b5-afc1-16715b10b5ee',
    runner_environment: 'self-hosted',
    nbf: now,
  }),
};

const circleciProject = '2b9c7f5e-1d1f-4f0e-8d5a-6a7c8b9d0e1f';

/** https://circleci.com/docs/openid-connect-tokens; issuer https://oidc.circleci.com/org/<id> */
const circleci: TokenShape = {
  header: jwt,
  lifetimeSeconds: 3_600,
  claims: () => ({
    sub: `org/8c0fbd2c-0d6f-4d4f-9d0e-7e7b5f6b3b4a/project/${circleciProject}/user/5d8e9f0a-1b2c-4d3e-8f4a-5b6c7d8e9f0a`,
    'oidc.circleci.com/project-id': circleciProject,
    'oidc.circleci.com/context-ids': ['7a6b5c4d-3e2f-4a1b-8c0d-9e8f7a6b5c4d'],
    'oidc.circleci.com/pipeline-definition-id': 'c1d2e3f4-a5b6-4c7d-8e9f-0a1b2c3d4e5f',
    'oidc.circleci.com/ssh-rerun': false,
    'oidc.circleci.com/vcs-origin': 'github.com/acme-inc/super-duper-app',
    'oidc.circleci.com/vcs-ref': 'refs/heads/main',
  }),
};

export const tokenShapes = {
  github,
  gitlab,
  kubernetes,
  google,
  aws,
  eks,
  azureV1,
  azureV2,
  buildkite,
  circleci,
} as const;
export type ShapeName = keyof typeof tokenShapes;
