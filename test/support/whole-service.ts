// What tests need to run the service in their own process. The build makes one file of it, which loads in half the time of its modules.
export { pino } from 'pino'
export { Problem } from '../../src/basics/errors.js'
export { startService } from '../../src/main.js'
export { ConfigError, readConfig } from '../../src/setup/config.js'
