/** The result of a work, or another value if it takes longer. The work itself goes on. */
export const inTime = <T, L>(work: Promise<T>, timeoutMs: number, late: L): Promise<T | L> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(late), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
