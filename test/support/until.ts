/**
 * Waits until a condition holds. After a second it asks less often: each question takes time from the processes that it waits for. The
 * time ends a test that hangs, a little before its own limit does, and measures none: a busy machine is many times slower.
 *
 * @throws Error when it does not hold in time, in milliseconds
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
