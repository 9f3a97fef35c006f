/**
 * The service for timing measurements, in a separate process, without limits on sign-ups, resets and codes, which no setting
 * removes (`KEYREEVE_THROTTLE=off` removes those of sign-ins). The measurement sends thousands of requests.
 */
import { systemClock } from '../../src/foundation/clock.ts';
import { processEnvironment, readConfig } from '../../src/app/configuration/config.ts';
import { createLog } from '../../src/foundation/log.ts';
import { startService } from '../../src/app/service.ts';

const config = readConfig(processEnvironment());
const log = createLog(config.logLevel);
const service = await startService({ config, clock: systemClock, log, areRequestsLimited: false });
process.on('SIGTERM', () => void service.stop().then(() => process.exit(0)));
log.info({ event: 'listening', url: service.url, adminUrl: service.adminUrl });
