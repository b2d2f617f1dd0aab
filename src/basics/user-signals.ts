/**
 * Keeps a process as it is at SIGUSR1 and SIGUSR2. Without a listener, Node opens its debugger at the first, for every user of the machine,
 * and the second ends the process.
 *
 * @example ignoreUserSignals((signal) => logger.warn(signal))
 */
export const ignoreUserSignals = (told: (signal: NodeJS.Signals) => void = () => undefined): void => {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => told(signal))
}
