/**
 * Calls a function for each item, a few at a time, and gives the results in the order of the items.
 *
 * @example await someAtOnce(questions, 4, (question) => ask(question))
 */
export const someAtOnce = async <T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  const places = items.entries()
  const worker = async () => {
    for (const [i, item] of places) results[i] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}
