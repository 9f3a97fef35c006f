/** The admin listener: only metrics and health. */
import type { RequestListener, Server } from 'node:http';
import { hostname } from 'node:os';
import { DomainError } from '../../foundation/errors.ts';
import { AdminHosts } from './admin-hosts.ts';
import { pathOf, write, writeProblem } from '../../http/response.ts';
import { securityOf, type SecurityHeaders } from '../../http/headers.ts';
import { healthRoutes, type Health } from '../processes/health.ts';
import { RequestLog } from '../../http/request-log.ts';
import type { Call } from '../../http/route.ts';
import { Router } from '../../http/router.ts';
import { createHttpServer, listen } from '../../http/server.ts';
import type { ServiceOptions } from '../processes/service-options.ts';

const detail =
  'The host name of the URL is not one of this listener. Use an IP address, or add the name to KEYREEVE_ADMIN_NAMES.';

/** Metrics in the text format of Prometheus. */
export interface MetricsPage {
  readonly contentType: string;
  readonly text: () => Promise<string>;
}

interface AdminParts {
  readonly hosts: AdminHosts;
  readonly health: Health;
  readonly security: SecurityHeaders;
  readonly requestLog: RequestLog;
}

function adminListener(
  metrics: () => Promise<MetricsPage>,
  { hosts, health, security, requestLog }: AdminParts,
): RequestListener {
  const router = new Router(healthRoutes(health));
  return (request, response) => {
    const path = pathOf(request);
    const { method = 'GET' } = request;
    const isRead = method === 'GET' || method === 'HEAD';
    const respond = async () => {
      if (path === '/metrics' && isRead) {
        // Health has no check: load balancers send any host, and the listener of clients returns the same.
        if (!hosts.permits(request.headers.host)) throw new DomainError('not_found', { detail });
        const { text, contentType } = await metrics().then(async (ready) => ({
          text: await ready.text(),
          contentType: ready.contentType,
        }));
        return { status: 200, body: text, contentType };
      }
      const match = router.find(method, path);
      if (match && 'route' in match) return match.route.handle({ params: match.params } as unknown as Call);
      if (match || path === '/metrics') throw new DomainError('method_not_allowed', { allowed: ['GET', 'HEAD'] });
      throw new DomainError('not_found');
    };
    respond().then(
      (answer) => write(response, security, answer),
      (error: unknown) => {
        const clientIp = (): string | undefined => request.socket.remoteAddress;
        writeProblem(response, security, requestLog.refused(error, { method, clientIp }));
      },
    );
  };
}

export async function startAdmin(
  { config, log }: Pick<ServiceOptions, 'config' | 'log'>,
  health: Health,
  metrics: () => Promise<MetricsPage>,
  requestLog = new RequestLog(log),
): Promise<{ readonly server: Server; readonly url: string }> {
  const security = securityOf(config.publicUrl);
  const hosts = new AdminHosts({ ...config, machine: hostname() });
  const listener = adminListener(metrics, { hosts, health, security, requestLog });
  const server = createHttpServer(security, log, listener, { requestLog });
  const { url } = await listen(server, config.adminHost, config.adminPort);
  return { server, url };
}
