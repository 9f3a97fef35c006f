/**
 * The configuration of Envoy that a controller derives from the manifests in `docs/forward-auth/kubernetes/`, so that the real
 * Envoy runs them without a cluster. It contains the parts that decide about requests; names of hosts become `*`.
 */
import { parseAllDocuments } from 'yaml';

/** A document of a manifest, or a part of it. `manifestsOf` and `kubernetes-fields.ts` check the form. */
// oxlint-disable-next-line typescript/no-explicit-any -- the members of YAML documents of nine kinds
export type Manifest = any;

type Json = Record<string, unknown>;

const api = 'type.googleapis.com/envoy.extensions.filters.http';
const cluster = (name: string, port: number, more: Json = {}): Json => ({
  name,
  ...more,
  type: 'STATIC',
  connect_timeout: '2s',
  load_assignment: {
    cluster_name: name,
    endpoints: [
      { lb_endpoints: [{ endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: port } } } }] },
    ],
  },
});

/** @param idle the time after which Envoy closes an idle connection; default: 1 hour */
function clusterOfKeyreeve(idle: string | undefined): Json {
  if (idle === undefined) return cluster('keyreeve', 8787);
  const type = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  const options = {
    '@type': `type.googleapis.com/${type}`,
    common_http_protocol_options: { idle_timeout: idle },
    explicit_http_config: { http_protocol_options: {} },
  };
  return cluster('keyreeve', 8787, { typed_extension_protocol_options: { [type]: options } });
}

/** @throws for text that is not YAML, or has a key twice */
export function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS();
  });
}

const one = (manifests: Manifest[], kind: string): Manifest => {
  const found = manifests.filter((each: Manifest) => each.kind === kind);
  if (found.length !== 1) throw new Error(`${found.length} documents of kind ${kind}`);
  return found[0];
};

const exact = (names: readonly string[]): Json => ({ patterns: names.map((name) => ({ exact: name.toLowerCase() })) });
const lower = (names: readonly string[] = []): string[] => names.map((name) => name.toLowerCase());

interface ExtAuthz {
  readonly prefix: string;
  readonly sent: readonly string[];
  readonly toBackend: readonly string[];
  /** All headers, if absent. */
  readonly toClient?: readonly string[];
  readonly failOpen: boolean;
  readonly statusOnError?: number | undefined;
  readonly timeout: string;
}

/** The HTTP form of Envoy's ext_authz, which all three use. */
const extAuthz = (each: ExtAuthz): Json => ({
  name: 'envoy.filters.http.ext_authz',
  typed_config: {
    '@type': `${api}.ext_authz.v3.ExtAuthz`,
    failure_mode_allow: each.failOpen,
    ...(each.statusOnError === undefined ? {} : { status_on_error: { code: each.statusOnError } }),
    allowed_headers: exact(each.sent),
    http_service: {
      server_uri: { uri: 'http://127.0.0.1:8787', cluster: 'keyreeve', timeout: each.timeout },
      path_prefix: each.prefix,
      authorization_response: {
        allowed_upstream_headers: exact(each.toBackend),
        ...(each.toClient ? { allowed_client_headers: exact(each.toClient) } : {}),
      },
    },
  },
});

const corsFilter = { name: 'envoy.filters.http.cors', typed_config: { '@type': `${api}.cors.v3.Cors` } };
const router = { name: 'envoy.filters.http.router', typed_config: { '@type': `${api}.router.v3.Router` } };

interface Parts {
  /** Members of the HTTP connection manager. */
  readonly manager: Json;
  readonly filters: readonly Json[];
  readonly host: Json & { readonly routes: readonly Json[] };
  readonly keyreeveIdle?: string;
}

function configOf({ manager, filters, host, keyreeveIdle }: Parts): string {
  const typed = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'api',
    // Both controllers set these for a gateway.
    use_remote_address: true,
    normalize_path: true,
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    ...manager,
    http_filters: [...filters, router],
    route_config: { virtual_hosts: [{ name: 'api', domains: ['*'], ...host }] },
  };
  const listener = {
    name: 'api',
    address: { socket_address: { address: '127.0.0.1', port_value: 8080 } },
    filter_chains: [{ filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: typed }] }],
  };
  const clusters = [clusterOfKeyreeve(keyreeveIdle), cluster('backend', 9000)];
  return JSON.stringify({ static_resources: { listeners: [listener], clusters } });
}

/** A rule of an HTTPRoute. The filters that change headers run in the router, after all HTTP filters. */
function routeOfRule(rule: Manifest, filters: Manifest[]): Json {
  const { type, value } = rule.matches[0].path;
  const match = type === 'RegularExpression' ? { safe_regex: { regex: value } } : { prefix: value };
  const used = (kind: string): Manifest => rule.filters?.find((each: Manifest) => each.type === kind);
  const direct = used('ExtensionRef')?.extensionRef.name;
  if (direct !== undefined) {
    const { spec } = filters.find((each: Manifest) => each.metadata.name === direct);
    return { match, direct_response: { status: spec.directResponse.statusCode } };
  }
  return {
    match,
    // Without it, Envoy's 15 s apply.
    route: { cluster: rule.backendRefs[0].name, timeout: rule.timeouts?.request },
    request_headers_to_remove: lower(used('RequestHeaderModifier')?.requestHeaderModifier.remove),
    response_headers_to_remove: lower(used('ResponseHeaderModifier')?.responseHeaderModifier.remove),
  };
}

export function envoyOfGatewayApi(text: string): string {
  const { spec } = one(manifestsOf(text), 'HTTPRoute');
  const [rule] = spec.rules;
  const { externalAuth } = rule.filters.find((each: Manifest) => each.type === 'ExternalAuth');
  const { path, allowedHeaders, allowedResponseHeaders } = externalAuth.http;
  const auth = extAuthz({
    prefix: path,
    sent: allowedHeaders,
    toBackend: allowedResponseHeaders,
    failOpen: false,
    timeout: '5s',
  });
  return configOf({
    manager: {},
    filters: [auth],
    host: { routes: spec.rules.map((each: Manifest) => routeOfRule(each, [])) },
  });
}

export function envoyOfEnvoyGateway(text: string): string {
  const manifests = manifestsOf(text);
  const { headers, path, timeout } = one(manifests, 'ClientTrafficPolicy').spec;
  const { cors, extAuth } = one(manifests, 'SecurityPolicy').spec;
  const { rules } = one(manifests, 'HTTPRoute').spec;
  const early = lower(headers.earlyRequestHeaders.remove).map((name) => ({ remove: name }));
  const late = headers.lateResponseHeaders.add.map((header: Manifest) => ({
    append: { header: { key: header.name, value: header.value }, append_action: 'APPEND_IF_EXISTS_OR_ADD' },
  }));
  const manager = {
    early_header_mutation_extensions: [
      {
        name: 'early',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation',
          mutations: early,
        },
      },
    ],
    common_http_protocol_options: {
      headers_with_underscores_action: { DropHeader: 'DROP_HEADER' }[headers.withUnderscoresAction as 'DropHeader'],
    },
    stream_idle_timeout: timeout.http.streamIdleTimeout,
    merge_slashes: !path.disableMergeSlashes,
    path_with_escaped_slashes_action: { RejectRequest: 'REJECT_REQUEST' }[path.escapedSlashesAction as 'RejectRequest'],
  };
  const auth = extAuthz({
    prefix: extAuth.http.path,
    sent: extAuth.headersToExtAuth,
    toBackend: extAuth.http.headersToBackend,
    failOpen: extAuth.failOpen,
    statusOnError: extAuth.statusOnError,
    timeout: extAuth.timeout,
  });
  const lateFilter = {
    name: 'envoy.filters.http.header_mutation',
    typed_config: { '@type': `${api}.header_mutation.v3.HeaderMutation`, mutations: { response_mutations: late } },
  };
  const policy = {
    '@type': `${api}.cors.v3.CorsPolicy`,
    allow_origin_string_match: cors.allowOrigins.map((origin: string) => ({ exact: origin })),
    allow_methods: cors.allowMethods.join(', '),
    allow_headers: cors.allowHeaders.join(', '),
    expose_headers: cors.exposeHeaders.join(', '),
    max_age: cors.maxAge.replace(/s$/, ''),
    forward_not_matching_preflights: false,
  };
  const filters = manifests.filter((each) => each.kind === 'HTTPRouteFilter');
  const routes = rules.map((rule: Manifest) => ({
    ...routeOfRule(rule, filters),
    typed_per_filter_config: { 'envoy.filters.http.cors': policy },
  }));
  // The controller's order of filters.
  const keyreeveIdle = extAuth.http.backendSettings.timeout.http.connectionIdleTimeout;
  return configOf({ manager, filters: [corsFilter, lateFilter, auth], host: { routes }, keyreeveIdle });
}

export function envoyOfIstio(text: string): string {
  const manifests = manifestsOf(text);
  const { meshConfig } = one(manifests, 'IstioOperator').spec;
  const policy = one(manifests, 'AuthorizationPolicy').spec;
  // Otherwise some requests would not be verified, which this file does not imitate.
  if (policy.action !== 'CUSTOM' || JSON.stringify(policy.rules) !== '[{}]') throw new Error('not all requests');
  const provider = meshConfig.extensionProviders.find((each: Manifest) => each.name === policy.provider.name);
  const http = provider.envoyExtAuthzHttp;
  const auth = extAuthz({
    prefix: http.pathPrefix,
    sent: http.includeRequestHeadersInCheck,
    toBackend: http.headersToUpstreamOnAllow,
    toClient: http.headersToDownstreamOnDeny,
    failOpen: http.failOpen,
    statusOnError: Number(http.statusOnError),
    timeout: http.timeout,
  });
  const patches = one(manifests, 'EnvoyFilter').spec.configPatches as Manifest[];
  const valuesOf = (applyTo: string, operation: string): Manifest[] =>
    patches
      .filter((each) => each.applyTo === applyTo && each.patch.operation === operation)
      .map((each) => each.patch.value);
  const inserted = valuesOf('HTTP_FILTER', 'INSERT_FIRST').toReversed();
  const [network, ...moreNetwork] = valuesOf('NETWORK_FILTER', 'MERGE');
  const [host, ...moreHosts] = valuesOf('VIRTUAL_HOST', 'MERGE');
  if (moreNetwork.length + moreHosts.length > 0 || inserted.length + 2 !== patches.length)
    throw new Error('a patch is unknown');
  const manager = {
    merge_slashes: meshConfig.pathNormalization.normalization === 'MERGE_SLASHES',
    ...network.typed_config,
  };
  const routes = one(manifests, 'VirtualService').spec.http.map((each: Manifest) =>
    each.directResponse
      ? {
          match: { safe_regex: { regex: each.match[0].uri.regex } },
          direct_response: { status: each.directResponse.status },
        }
      : {
          match: { prefix: '/' },
          route: { cluster: each.route[0].destination.host.split('.')[0], timeout: each.timeout },
          request_headers_to_remove: each.headers.request.remove,
          response_headers_to_remove: each.headers.response.remove,
        },
  );
  const keyreeveIdle = one(manifests, 'DestinationRule').spec.trafficPolicy.connectionPool.http.idleTimeout;
  // Istio's own CORS filter is behind ext_authz.
  return configOf({ manager, filters: [...inserted, auth, corsFilter], host: { ...host, routes }, keyreeveIdle });
}
