/** Creates a portal session for the signed-in person, and redirects the frame of the page to it. */
import { KeyreeveError, Management } from '@keyreeve/client/account';
import { personOf } from '../../../person.js';

const refuse = (status, text) => new Response(text, { status, headers: { 'Cache-Control': 'no-store' } });

// Limit the requests of one person here: Keyreeve creates at most 600 sessions an hour for each service account.
export async function GET(request) {
  // Requests of scripts and of other sites get no token.
  const { headers } = request;
  if (headers.get('Sec-Fetch-Dest') !== 'iframe' || headers.get('Sec-Fetch-Site') !== 'same-origin')
    return refuse(403, 'Only for the frame of the page.');
  const person = await personOf(request);
  if (!person) return refuse(401, 'Sign in again, and reload the page.');
  try {
    const Location = await newSession(person);
    return new Response(null, { status: 302, headers: { Location, 'Cache-Control': 'no-store' } });
  } catch (error) {
    if (!(error instanceof KeyreeveError)) throw error;
    console.error(error.code, error.message);
    return refuse(503, 'The API keys are not available. Reload the page later.');
  }
}

/** @returns the URL of the frame, whose token works once */
async function newSession({ id, tenant }) {
  const { KEYREEVE_URL: url, KEYREEVE_MANAGEMENT_KEY: managementKey, ORIGIN: origin } = process.env;
  const keyreeve = new Management({ url, managementKey });
  const capabilities = ['read', 'create', 'rotate', 'limit', 'delete'];
  const session = { externalId: tenant, capabilities, person: { id }, origin };
  try {
    return (await keyreeve.createPortalSession(session)).url;
  } catch (error) {
    if (error.code !== 'account_not_found') throw error;
    await keyreeve.createServiceAccount({ name: tenant, externalId: tenant }).catch((failure) => {
      if (failure.code !== 'external_id_taken') throw failure;
    });
    return (await keyreeve.createPortalSession(session)).url;
  }
}
