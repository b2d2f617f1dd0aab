/**
 * Does something for each item, with so many under way at once: a service groups what arrives together, and a test that prepares many
 * resources waits less for each.
 *
 * @example await eachOf(names, (name) => sql(url, `CREATE PROJECT ${name}`))
 */
export const eachOf = async <T>(items: readonly T[], each: (item: T) => Promise<unknown>, atOnce = 50): Promise<void> => {
  // An error in one place ends a generator for all places.
  const left = (function* () {
    yield* items
  })()
  const work = async (): Promise<void> => {
    for (const item of left) await each(item)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}
