/** Room: the commands of `mindledger`, a file for each. It imports any room above it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { pino, type Logger } from 'pino'
import { limits } from '../../basics/limits.js'
import { ignoreUserSignals } from '../../basics/user-signals.js'
import { isOnlyLocal, type Config } from '../../setup/config.js'
import { startService } from '../../main.js'
import { LogLines } from '../terminal/log-lines.js'

/** On a terminal a person reads the log, so it has only what needs attention. Elsewhere it is JSON lines for a collector. */
const createLogger = (config: Config): Logger => {
  const lines = new LogLines(process.stdout.fd)
  process.once('exit', () => lines.end())
  return pino(
    {
      level: process.stdout.isTTY && config.logLevel === 'info' ? 'warn' : config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    lines,
  )
}

/**
 * `mindledger serve`: runs until SIGTERM or SIGINT, then answers the requests in progress and exits 0. SIGHUP does the same when its
 * terminal is closed; without a terminal it is ignored, because there is no configuration to reload. A start that waits for something,
 * such as room on the disk, is left as by a kill. SIGUSR1 and SIGUSR2 are ignored.
 */
export const serve = async (config: Config): Promise<number> => {
  const logger = createLogger(config)
  // A full disk under stderr must not end the service either.
  process.stderr.on('error', () => undefined)
  // The signals are handled from the first moment.
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
    process.on('SIGHUP', () => {
      if (process.stdout.isTTY) resolve()
      else logger.warn('SIGHUP: there is no configuration to reload, the service goes on; SIGTERM stops it')
    })
  })
  ignoreUserSignals((signal) => logger.warn(`${signal}: it means nothing here, the service goes on; SIGTERM stops it`))
  const service = await Promise.race([
    startService(config, logger),
    stopped.then(() => sleep(limits.startStopWaitMs, undefined, { ref: false })),
  ])
  if (!service) {
    logger.warn('stopped before the start was over: it waited for a disk, a database or other nodes; the next start goes on with its work')
    process.exit(0)
  }
  const { position } = await service.head()
  if (process.stdout.isTTY) process.stdout.write(`Mindledger at ${service.url}\n  data  ${config.dataDirectory}\n  head  ${position}\n`)
  else logger.info({ url: service.url, data: config.dataDirectory, head: position }, 'serving')
  if (!config.auth && !isOnlyLocal(config))
    logger.warn(
      { host: config.host },
      'anyone who reaches this service may read and change everything: set AUTH=session, or HOST to a loopback address without a proxy',
    )
  await stopped
  logger.info('stopping')
  await service.close()
  return 0
}
