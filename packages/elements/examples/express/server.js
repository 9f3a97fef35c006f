/** The backend of a product, with the key page of Keyreeve in its dashboard. Replace `personOf` with your own sign-in. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { KeyreeveError, Management } from '@keyreeve/client/account';

const { KEYREEVE_URL: url, KEYREEVE_MANAGEMENT_KEY, PORT = '3000', DEMO_PERSON } = process.env;
const { ORIGIN: origin = `http://localhost:${PORT}` } = process.env;
const keyreeve = new Management({ url, managementKey: () => KEYREEVE_MANAGEMENT_KEY });

/** @returns the signed-in person and the tenant; undefined to refuse. This one accepts every request as DEMO_PERSON, for a try-out. */
function personOf(_request) {
  return DEMO_PERSON && { id: DEMO_PERSON, tenant: 'tenant_182' };
}

/** @returns the URL of the frame, whose token works once */
async function newSession({ id, tenant }) {
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

const app = express();
app.use((_, response, next) => {
  response.set('Content-Security-Policy', `default-src 'self'; frame-src 'self' ${new URL(url).origin}`);
  next();
});
app.use(express.static(fileURLToPath(new URL('public', import.meta.url))));
app.use('/elements', express.static(dirname(fileURLToPath(import.meta.resolve('@keyreeve/elements')))));

// Limit the requests of one person here: Keyreeve creates at most 600 sessions an hour for each service account.
app.get('/api-keys/frame', async (request, response) => {
  response.set('Cache-Control', 'no-store');
  // Requests of scripts and of other sites get no token.
  const isFrame = request.get('Sec-Fetch-Dest') === 'iframe' && request.get('Sec-Fetch-Site') === 'same-origin';
  if (!isFrame) return response.status(403).send('Only for the frame of the page.');
  const person = personOf(request);
  if (!person) return response.status(401).send('Sign in again, and reload the page.');
  response.redirect(302, await newSession(person));
});

app.use((error, _request, response, next) => {
  if (!(error instanceof KeyreeveError)) return next(error);
  console.error(error.code, error.message);
  response.status(503).send('The API keys are not available. Reload the page later.');
});
// Only this machine reaches it, because every request is accepted as DEMO_PERSON.
app.listen(Number(PORT), 'localhost', () => console.log(`listening on ${origin}`));
