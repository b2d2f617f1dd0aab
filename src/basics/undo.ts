import { errorText } from './errors.js'

/** Closes a part that was opened. */
export type Step = () => unknown

const throwAll = (errors: readonly unknown[]): void => {
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} steps failed: ${errors.map(errorText).join('; ')}`)
}

/**
 * Runs the steps in reverse order. Each of them runs, even if others fail.
 *
 * @example await undoAll([() => log.close(), () => sqlProcess.stop()])
 * @throws AggregateError with the errors of all steps that failed
 */
export const undoAll = async (steps: readonly Step[]): Promise<void> => {
  const errors: unknown[] = []
  for (const step of steps.toReversed())
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  throwAll(errors)
}

/**
 * Runs the steps at the same time, and waits for the end of each, even if others fail.
 *
 * @example undo(() => undoTogether([() => jobs.stop(), () => erasures.stop()]))
 * @throws AggregateError with the errors of all steps that failed
 */
export const undoTogether = async (steps: readonly Step[]): Promise<void> => {
  const ends = await Promise.allSettled(steps.map(async (step) => step()))
  throwAll(ends.flatMap((end): unknown[] => (end.status === 'rejected' ? [end.reason] : [])))
}

/** Parts that were opened together, and the function that closes them. */
export type OpenParts<T> = T & { stop: () => Promise<void> }

/**
 * Opens parts one after the other; `undo` registers how each is closed. They are closed in reverse order, even when a later one fails to
 * open.
 *
 * @example const { log, stop } = await opened((undo) => { const log = open(); undo(() => log.close()); return { log } })
 */
export const opened = async <T extends object>(open: (undo: (step: Step) => void) => Promise<T> | T): Promise<OpenParts<T>> => {
  const steps: Step[] = []
  try {
    const parts = await open((step) => void steps.push(step))
    let stopping: Promise<void> | undefined
    return { ...parts, stop: () => (stopping ??= undoAll(steps)) }
  } catch (error) {
    try {
      await undoAll(steps)
    } catch (undone) {
      throw new AggregateError([error, undone], `${errorText(error)}; and not all could be undone: ${errorText(undone)}`)
    }
    throw error
  }
}
