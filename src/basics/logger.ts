/**
 * Writes the lines of the service's log: fields and a text each. A logger of pino is one.
 *
 * @example logger.error({ err }, 'a job was not looked at')
 */
export type Logger = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>
