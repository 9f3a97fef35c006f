/** Renders the Helm chart, and checks what every rendered chart must have. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../src/app/configuration/config.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { root } from './shell-blocks.ts';

export const chart = join(root, 'ops/helm/keyreeve');
const missing = ['helm', 'kubernetes-validate'].filter((name) => spawnSync(name, ['--help']).error !== undefined);
/** Under CI the tests run, and fail without the programs. */
export const skip =
  process.env['CI'] !== 'true' && missing.length > 0 && `not tried: ${missing.join(' and ')} not installed`;
/** Oldest version that Chart.yaml accepts and kubernetes-validate has, and the newest. */
const kubernetesVersions = ['1.27.0', '1.37.0'];

export type Values = Readonly<Record<string, unknown>>;
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  readonly spec: Record<string, unknown>;
}
interface Pod {
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly securityContext: object;
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly image: string;
    readonly securityContext: object;
    readonly env: readonly { readonly name: string; readonly value: string }[];
    readonly args?: readonly string[];
    readonly volumeMounts: readonly { readonly mountPath: string; readonly readOnly?: boolean }[];
    readonly lifecycle?: object;
  }[];
  readonly volumes: readonly { readonly name: string; readonly projected?: { readonly defaultMode: number } }[];
  readonly affinity?: { readonly podAffinity?: object };
}
/** The template of a pod in a workload or job. */
export interface Template {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: Pod;
}

export const required: Values = {
  publicUrl: 'https://auth.example.com',
  image: { repository: 'images.example.com/keyreeve' },
  masterKeySecret: { name: 'keyreeve' },
  trustedProxies: '10.0.0.0/8',
};
export const postgres: Values = {
  ...required,
  database: { kind: 'postgres', urlSecret: { name: 'keyreeve', key: 'url' } },
  replicas: 3,
};
export const everything: Values = {
  ...postgres,
  image: { repository: 'images.example.com/keyreeve', digest: `sha256:${'a'.repeat(64)}` },
  imagePullSecrets: [{ name: 'registry' }],
  deletionJournal: { existingClaim: 'deletions' },
  backup: { existingClaim: 'backups', schedule: '30 2 * * *', keep: 7, podLabels: { team: 'identity' } },
  verifiers: 2,
  smtpUrlSecret: { name: 'mail' },
  bootstrap: { content: { generation: 1, serviceAccounts: [{ name: 'gateway' }] } },
  settings: { KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>', KEYREEVE_USAGE_DAYS: 90, KEYREEVE_SIGNUP: 'open' },
  ingress: { enabled: true, className: 'nginx', tlsSecretName: 'tls', annotations: { 'example.com/a': 'b' } },
  networkPolicy: {
    clients: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    verificationClients: [{ namespaceSelector: { matchLabels: { name: 'gateway' } } }],
    monitoring: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
  },
  podLabels: { team: 'identity' },
  podAnnotations: { 'example.com/c': 'd' },
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  priorityClassName: 'high',
  serviceAccount: { annotations: { 'example.com/e': 'f' } },
};
export function render(
  values: Values,
  ...options: readonly string[]
): { status: number | null; stdout: string; stderr: string } {
  const args = ['template', 'release', chart, '--namespace', 'auth', '--values', '-', ...options];
  const { status, stdout, stderr } = spawnSync('helm', args, { encoding: 'utf8', input: JSON.stringify(values) });
  return { status, stdout, stderr };
}

/** As JSON, because no dependency of the project parses YAML. Python and PyYAML come with kubernetes-validate. */
export function parse(yaml: string): Manifest[] {
  const executable = spawnSync('sh', ['-c', 'readlink -f "$(command -v kubernetes-validate)"'], { encoding: 'utf8' });
  const python = readFileSync(executable.stdout.trim(), 'utf8').split('\n', 1)[0]!.slice('#!'.length);
  const program = 'import json,sys,yaml; print(json.dumps([d for d in yaml.safe_load_all(sys.stdin) if d]))';
  const { stdout, stderr } = spawnSync(python, ['-c', program], { encoding: 'utf8', input: yaml });
  assert.notEqual(stdout, '', stderr);
  return JSON.parse(stdout) as Manifest[];
}

export function manifestsOf(values: Values, ...options: readonly string[]): Manifest[] {
  const { status, stdout, stderr } = render(values, ...options);
  assert.equal(status, 0, stderr);
  return parse(stdout);
}

export function notesOf(values: Values): string {
  const args = ['install', 'release', chart, '--dry-run=client', '--values', '-'];
  const { status, stdout, stderr } = spawnSync('helm', args, { encoding: 'utf8', input: JSON.stringify(values) });
  assert.equal(status, 0, stderr);
  return stdout.slice(stdout.indexOf('\nNOTES:'));
}

export const kinds = (manifests: readonly Manifest[]): string[] => manifests.map(({ kind }) => kind).toSorted();

export const podOf = (manifests: readonly Manifest[]): Pod => {
  const workload = manifests.find(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment');
  return (workload!.spec as { template: Template }).template.spec;
};

/** Asserts that Kubernetes accepts the manifests, and that the pods are restricted. */
export function assertAccepted(values: Values): void {
  const { stdout } = render(values);
  using folder = newTempFolder();
  const path = join(folder.path, 'manifests.yaml');
  writeFileSync(path, stdout);
  for (const version of kubernetesVersions) {
    const validated = spawnSync('kubernetes-validate', ['--strict', '--quiet', '-k', version, path], {
      encoding: 'utf8',
    });
    assert.equal(validated.status, 0, validated.stdout + validated.stderr);
  }
  const pod = podOf(manifestsOf(values));
  assert.equal(pod.automountServiceAccountToken, false);
  assert.equal(pod.enableServiceLinks, false, 'Kubernetes would set KEYREEVE_PORT for the Service');
  assert.deepEqual(pod.securityContext, {
    runAsNonRoot: true,
    runAsUser: 65_532,
    runAsGroup: 65_532,
    fsGroup: 65_532,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  });
  const [container] = pod.containers;
  assert.deepEqual(container!.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.equal(pod.volumes.find((volume) => volume.name === 'secrets')?.projected?.defaultMode, 0o440);
}

/** Asserts that the service accepts the settings of the pods, which contain no secret. */
export function assertConfigured(values: Values): void {
  const { env } = podOf(manifestsOf(values)).containers[0]!;
  const settings = Object.fromEntries(env.map(({ name: setting, value }) => [setting, value]));
  // The files exist in the pod only.
  const secrets = Object.keys(settings).filter((setting) => setting.endsWith('_FILE'));
  const inPod: Record<string, string> = {
    KEYREEVE_MASTER_KEY: 'A'.repeat(43),
    KEYREEVE_DATABASE_URL: 'postgres://keyreeve:password@db:5432/keyreeve',
    KEYREEVE_SMTP_URL: 'smtps://user:password@mail:465',
  };
  for (const setting of secrets) {
    const direct = setting.slice(0, -'_FILE'.length);
    delete settings[setting];
    settings[direct] = inPod[direct]!;
  }
  const config = readConfig(settings);
  assert.deepEqual([config.host, config.port, config.adminHost, config.adminPort], ['0.0.0.0', 8787, '0.0.0.0', 8788]);
  assert.ok(podOf(manifestsOf(values)).terminationGracePeriodSeconds > config.drainSeconds);
}
