/**
 * The service for timing measurements, in a process of its own, without limits on sign-ups, resets and codes: thousands of
 * requests are measured, and no setting lifts these limits (`KEYREEVE_THROTTLE=off` lifts those of sign-ins).
 */
import { systemClock } from '../../src/foundation/clock.ts';
import { processEnvironment, readConfig } from '../../src/app/config.ts';
import { createLog } from '../../src/foundation/log.ts';
import { startService } from '../../src/app/service.ts';

const config = readConfig(processEnvironment());
const log = createLog(config.logLevel);
const service = await startService({ config, clock: systemClock, log, areRequestsLimited: false });
process.on('SIGTERM', () => void service.stop().then(() => process.exit(0)));
log.info({ event: 'listening', url: service.url, adminUrl: service.adminUrl });
