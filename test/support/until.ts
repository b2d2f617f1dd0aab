/**
 * Waits until a condition is true. After a second it asks less often, because each question takes time from the processes that it waits
 * for. The timeout only ends a hanging test, shortly before the test's own limit. It measures nothing, because a busy machine is many times
 * slower.
 *
 * @throws Error when the condition is not true in time, in milliseconds
 * @example await until(async () => (await active()) === 0)
 */
export const until = async (holds: () => boolean | Promise<boolean>, withinMs = 20 * 60_000): Promise<void> => {
  const from = performance.now()
  for (let waited = 0; waited < withinMs; waited = performance.now() - from) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, waited < 1_000 ? 20 : 50))
  }
  throw new Error(`it did not hold within ${withinMs} ms`)
}

/** The words of the driver when a connection to PostgreSQL, or an answer over it, comes too late. */
const isLate = (error: unknown): boolean => error instanceof Error && /timeout expired|Query read timeout/.test(error.message)

/**
 * Opens a shared log, a session or a node. It is opened again while PostgreSQL takes longer than a node waits for it at its start, as on a
 * busy machine.
 *
 * @example const log = await whenReached(() => SharedLog.open({ url, file, vault }))
 */
export const whenReached = async <T>(open: () => Promise<T>): Promise<T> => {
  for (;;)
    try {
      return await open()
    } catch (error) {
      if (!isLate(error)) throw error
    }
}
