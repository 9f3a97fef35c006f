/**
 * The fields of Kubernetes resources that the manifests in `docs/forward-auth/kubernetes/` use, from the references of the
 * Gateway API, Envoy Gateway and Istio. A misspelt field can be dropped without an error, and with it a check.
 */
import type { Manifest } from './kubernetes-envoy.ts';

const common = ['apiVersion', 'kind', 'metadata.name', 'metadata.namespace'];
const under = (prefix: string, ...names: readonly string[]): string[] => names.map((name) => `${prefix}.${name}`);
const target = under('spec.targetRefs[]', 'group', 'kind', 'name');

/** Objects that the resources pass on to Envoy, which itself rejects unknown fields. */
const opaque = /^spec\.configPatches\[\]\.patch\.value\./;

const rule = 'spec.rules[]';
const extAuth = 'spec.extAuth';
const provider = 'spec.meshConfig.extensionProviders[].envoyExtAuthzHttp';

/** By version and kind. `[]` stands for any element of a list. */
export const knownFields: Readonly<Record<string, readonly string[]>> = {
  'gateway.networking.k8s.io/v1 HTTPRoute': [
    ...common,
    'spec.parentRefs[].name',
    'spec.hostnames[]',
    ...under(`${rule}.matches[].path`, 'type', 'value'),
    `${rule}.timeouts.request`,
    ...under(`${rule}.backendRefs[]`, 'name', 'port'),
    ...under(`${rule}.filters[]`, 'type', 'requestHeaderModifier.remove[]', 'responseHeaderModifier.remove[]'),
    ...under(`${rule}.filters[].extensionRef`, 'group', 'kind', 'name'),
    ...under(`${rule}.filters[].externalAuth`, 'protocol', 'backendRef.name', 'backendRef.port'),
    ...under(`${rule}.filters[].externalAuth.http`, 'path', 'allowedHeaders[]', 'allowedResponseHeaders[]'),
  ],
  'gateway.envoyproxy.io/v1alpha1 ClientTrafficPolicy': [
    ...common,
    ...target,
    ...under('spec.headers', 'earlyRequestHeaders.remove[]', 'withUnderscoresAction'),
    ...under('spec.headers.lateResponseHeaders.add[]', 'name', 'value'),
    ...under('spec.path', 'escapedSlashesAction', 'disableMergeSlashes'),
    'spec.timeout.http.streamIdleTimeout',
  ],
  'gateway.envoyproxy.io/v1alpha1 HTTPRouteFilter': [...common, 'spec.directResponse.statusCode'],
  'gateway.envoyproxy.io/v1alpha1 SecurityPolicy': [
    ...common,
    ...target,
    ...under('spec.cors', 'allowOrigins[]', 'allowMethods[]', 'allowHeaders[]', 'exposeHeaders[]', 'maxAge'),
    ...under(extAuth, 'failOpen', 'statusOnError', 'timeout', 'headersToExtAuth[]'),
    ...under(`${extAuth}.http`, 'path', 'headersToBackend[]', 'backendRefs[].name', 'backendRefs[].port'),
    `${extAuth}.http.backendSettings.timeout.http.connectionIdleTimeout`,
  ],
  'install.istio.io/v1alpha1 IstioOperator': [
    ...common,
    'spec.meshConfig.pathNormalization.normalization',
    'spec.meshConfig.extensionProviders[].name',
    ...under(provider, 'service', 'port', 'pathPrefix', 'timeout', 'failOpen', 'statusOnError'),
    ...under(provider, 'includeRequestHeadersInCheck[]', 'headersToUpstreamOnAllow[]', 'headersToDownstreamOnDeny[]'),
  ],
  'networking.istio.io/v1 DestinationRule': [
    ...common,
    ...under('spec', 'host', 'trafficPolicy.connectionPool.http.idleTimeout'),
  ],
  'security.istio.io/v1 AuthorizationPolicy': [
    ...common,
    'spec.selector.matchLabels.istio',
    'spec.action',
    'spec.provider.name',
    'spec.rules[]',
  ],
  'networking.istio.io/v1alpha3 EnvoyFilter': [
    ...common,
    'spec.workloadSelector.labels.istio',
    ...under('spec.configPatches[]', 'applyTo', 'match.context', 'match.listener.filterChain.filter.name'),
    'spec.configPatches[].patch.operation',
  ],
  'networking.istio.io/v1 VirtualService': [
    ...common,
    ...under('spec', 'hosts[]', 'gateways[]'),
    ...under('spec.http[]', 'match[].uri.regex', 'directResponse.status', 'timeout'),
    ...under('spec.http[].headers', 'request.remove[]', 'response.remove[]'),
    ...under('spec.http[].route[].destination', 'host', 'port.number'),
  ],
};

/** @returns the paths of all values that are not objects, and of empty objects */
export function fieldsOf(manifest: Manifest): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, `${path}[]`);
    else if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
      for (const [name, each] of Object.entries(value)) visit(each, path === '' ? name : `${path}.${name}`);
    else if (!opaque.test(path)) found.add(path);
  };
  visit(manifest, '');
  return found;
}
