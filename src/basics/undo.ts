const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Carries out steps, the last one first: each of them, whatever happens to those before it.
 *
 * @example await undoAll([() => log.close(), () => analytics.stop()])
 * @throws AggregateError with the errors of all steps that failed
 */
export const undoAll = async (steps: readonly (() => unknown)[]): Promise<void> => {
  const errors: unknown[] = []
  for (const step of steps.toReversed())
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} steps failed: ${errors.map(messageOf).join('; ')}`)
}
