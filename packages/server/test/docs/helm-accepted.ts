/** What every rendered chart must have: Kubernetes accepts it, its pods are restricted, and no route that verifies is published. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { customKinds } from './helm-schemas.ts';
import { manifestsOf, podOf, podsOf, type Container, type Manifest, type Pod, type Values } from './helm-chart.ts';

/** Oldest version that Chart.yaml accepts and kubernetes-validate has, and the newest. */
const kubernetesVersions = ['1.27.0', '1.37.0'];

/** Asserts that both versions accept the objects of Kubernetes itself, without unknown members. */
export function assertValid(manifests: readonly Manifest[]): void {
  using folder = newTempFolder();
  const path = join(folder.path, 'manifests.yaml');
  const own = manifests.filter(({ kind }) => !customKinds.includes(kind)).map((manifest) => JSON.stringify(manifest));
  writeFileSync(path, [...new Set(own)].map((manifest) => `---\n${manifest}\n`).join(''));
  for (const version of kubernetesVersions) {
    const args = ['--strict', '--quiet', '-k', version, path];
    const { status, stdout, stderr } = spawnSync('kubernetes-validate', args, { encoding: 'utf8' });
    assert.equal(status, 0, stdout + stderr);
  }
}

/** Asserts that Kubernetes accepts the manifests, and that the pods are restricted. */
export function assertAccepted(values: Values): void {
  const manifests = manifestsOf(values);
  assertValid(manifests);
  assertRestricted(manifests);
  const pod = podOf(manifests);
  assert.deepEqual(pod.securityContext, {
    runAsNonRoot: true,
    runAsUser: 65_532,
    runAsGroup: 65_532,
    fsGroup: 65_532,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  });
  assert.equal(pod.volumes?.find((volume) => volume.name === 'secrets')?.projected?.defaultMode, 0o440);
}

/** Asserts what the chart promises for all its pods. */
export function assertRestricted(manifests: readonly Manifest[]): void {
  for (const pod of podsOf(manifests)) {
    assert.deepEqual(violationsOf(pod), []);
    assert.equal(pod.automountServiceAccountToken, false);
    assert.equal(pod.enableServiceLinks, false, 'Kubernetes would set KEYREEVE_PORT for the Service');
    const [own] = pod.containers;
    assert.equal(own?.securityContext?.['readOnlyRootFilesystem'], true);
    for (const { env = [], volumeMounts = [] } of pod.containers) {
      assertDistinct(env.map(({ name }) => name));
      assertDistinct(volumeMounts.map(({ mountPath }) => mountPath));
      const volumes = (pod.volumes ?? []).map(({ name }) => name);
      assert.deepEqual(
        volumeMounts.map(({ name }) => name).filter((name) => !volumes.includes(name)),
        [],
      );
    }
    assertDistinct((pod.volumes ?? []).map(({ name }) => name));
    assertDistinct(pod.containers.map(({ name }) => name));
  }
}

const assertDistinct = (names: readonly string[]): void => assert.deepEqual([...new Set(names)], names);

const volumeKinds = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const seLinuxTypes = [undefined, '', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];

/**
 * What the profile “restricted” of the Pod Security Standards rejects
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards/).
 */
export function violationsOf(pod: Pod): string[] {
  const { volumes = [], containers } = pod;
  const found = ['hostNetwork', 'hostPID', 'hostIPC'].filter((name) => pod[name] === true);
  for (const { name, ...sources } of volumes)
    found.push(
      ...Object.keys(sources)
        .filter((kind) => !volumeKinds.includes(kind))
        .map((kind) => `${name}: ${kind}`),
    );
  const initial = (pod['initContainers'] ?? []) as readonly Container[];
  for (const container of [...containers, ...initial])
    found.push(...violationsOfContainer(container, pod.securityContext).map((what) => `${container.name}: ${what}`));
  return found;
}

function violationsOfContainer(
  { securityContext = {}, ports = [] }: Container,
  ofPod: Pod['securityContext'],
): string[] {
  const own = securityContext as {
    readonly privileged?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly procMount?: string;
    readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  };
  const { runAsNonRoot, runAsUser, seccompProfile, seLinuxOptions } = { ...ofPod, ...securityContext } as {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly seccompProfile?: { readonly type: string };
    readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string };
  };
  const { add = [], drop = [] } = own.capabilities ?? {};
  const rules: readonly (readonly [string, boolean])[] = [
    ['privileged', own.privileged === true],
    ['allowPrivilegeEscalation', own.allowPrivilegeEscalation !== false],
    ['capabilities', !drop.includes('ALL') || add.some((name) => name !== 'NET_BIND_SERVICE')],
    ['procMount', (own.procMount ?? 'Default') !== 'Default'],
    ['hostPort', ports.some(({ hostPort = 0 }) => hostPort !== 0)],
    ['runAsNonRoot', runAsNonRoot !== true],
    ['runAsUser', runAsUser === 0],
    ['seccompProfile', !['RuntimeDefault', 'Localhost'].includes(seccompProfile?.type ?? '')],
    [
      'seLinuxOptions',
      !seLinuxTypes.includes(seLinuxOptions?.type) ||
        'user' in (seLinuxOptions ?? {}) ||
        'role' in (seLinuxOptions ?? {}),
    ],
  ];
  return rules.flatMap(([what, isViolated]) => (isViolated ? [what] : []));
}

interface Published {
  readonly path: string;
  readonly isPrefix: boolean;
  readonly service: string;
}

/** What the Ingress and the HTTPRoute publish. */
export function publishedBy(manifests: readonly Manifest[]): Published[] {
  return manifests.flatMap(({ kind, spec }) => {
    if (kind === 'Ingress')
      return (spec as unknown as IngressSpec).rules.flatMap(({ http }) =>
        http.paths.map(({ path, pathType, backend }) => {
          return { path, isPrefix: pathType !== 'Exact', service: backend.service.name };
        }),
      );
    if (kind !== 'HTTPRoute') return [];
    return (spec as unknown as RouteSpec).rules.flatMap(({ matches, backendRefs: [backend] }) =>
      matches.map(({ path }) => ({ path: path.value, isPrefix: path.type !== 'Exact', service: backend!.name })),
    );
  });
}

interface IngressSpec {
  readonly rules: readonly {
    readonly http: {
      readonly paths: readonly {
        readonly path: string;
        readonly pathType: string;
        readonly backend: { readonly service: { readonly name: string } };
      }[];
    };
  }[];
}
interface RouteSpec {
  readonly rules: readonly {
    readonly matches: readonly { readonly path: { readonly type: string; readonly value: string } }[];
    readonly backendRefs: readonly { readonly name: string }[];
  }[];
}

/** Whether the rules forward a request, as Ingress and Gateway API define prefixes: element by element. */
export const forwards = (rules: readonly Published[], requested: string): boolean =>
  rules.some(
    ({ path, isPrefix }) => requested === path || (isPrefix && requested.startsWith(path.replace(/\/?$/, '/'))),
  );
