/** Request targets (RFC 9112 section 3.2). */
import type { IncomingMessage } from 'node:http';

const absoluteForm = /^https?:\/\/([^/?#]+)/i;

/**
 * Replaces a target in absolute form by its origin form, so that the rest of the service knows one form. Clients that are
 * configured for a proxy send it, and RFC 9112 section 3.2.2 requires a server to accept it.
 * @param request with at most one Host
 * @returns false if a proxy may interpret the target differently: the authority is not that of Host, which section 3.2
 *   requires, or the target has no form of its method
 */
export function useOriginForm(request: IncomingMessage): boolean {
  const { method, url = '' } = request;
  if (url.startsWith('/') || method === 'CONNECT' || (url === '*' && method === 'OPTIONS')) return true;
  const [start = '', authority] = absoluteForm.exec(url) ?? [];
  if (authority === undefined || authority.toLowerCase() !== request.headers.host?.toLowerCase()) return false;
  const rest = url.slice(start.length);
  // Section 3.2.4: an empty path in a request for OPTIONS concerns the server.
  if (rest === '' && method === 'OPTIONS') request.url = '*';
  else request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return true;
}
